use serde::{Deserialize, Serialize};
use specta::Type;

/// Makes [`Problem`]: each line is a code with its typed arguments and the English sentence that says it.
macro_rules! problems {
    ($($(#[doc = $doc:literal])* $code:ident $({ $($argument:ident: $kind:ty),* })? = $english:tt;)*) => {
        /// What Bosun has to say about something that was not done, or is not as it should be: a code with arguments.
        ///
        /// [`std::fmt::Display`] is the English sentence, for the command line and for logs; the window has one in each of
        /// its languages. What a program, a provider or the system said stands in arguments called `detail`, as it came.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Type, thiserror::Error)]
        #[serde(tag = "problem", rename_all = "snake_case")]
        pub enum Problem {
            $($(#[doc = $doc])* #[error($english)] $code $({ $($argument: $kind),* })?,)*
        }

        impl Problem {
            /// Every code, as the variant is called, with its English sentence; `{argument}` stands for an argument.
            pub const ENGLISH: &[(&str, &str)] = &[$((stringify!($code), $english)),*];
        }
    };
}

problems! {
    /// Words that are nobody's to translate: those of a program, a provider, the system or a person.
    Said { detail: String } = "{detail}";
    /// A defect of Bosun.
    Internal { detail: String } = "something went wrong inside Bosun: {detail}";
    BadRequest { command: String, argument: String } = "{command} was asked in a way it does not understand: its {argument} is missing or wrong";

    // Where data lives.
    NoDataFolder = "no home folder is known on this system; say where data may live with BOSUN_DATA_DIR";
    DataFolderMissing { path: String } = "the data folder {path} cannot be used: it is not there and cannot be made. Choose another with BOSUN_DATA_DIR";
    DataFolderForbidden { path: String } = "the data folder {path} cannot be used: you may not write there. Choose another with BOSUN_DATA_DIR";
    DataFolderIsFile { path: String } = "the data folder {path} cannot be used: a file is in its place. Choose another with BOSUN_DATA_DIR";
    DataFolderReadOnly { path: String } = "the data folder {path} cannot be used: the disk is read-only. Choose another with BOSUN_DATA_DIR";
    DataFolderFull { path: String } = "the data folder {path} cannot be used: the disk is full. Choose another with BOSUN_DATA_DIR";
    DataFolderUnusable { path: String, detail: String } = "the data folder {path} cannot be used: {detail}. Choose another with BOSUN_DATA_DIR";
    DatabaseNewer { path: String, found: i32, known: i32 } = "{path} was made by a newer Bosun (format {found}, this one knows {known}). Update Bosun; nothing was changed";
    DatabaseForeign { path: String } = "{path} is not a database. It was left as it is; move it away to begin anew";
    DatabaseOfOther { path: String } = "{path} belongs to another program. It was left as it is; choose another folder with BOSUN_DATA_DIR";
    DatabaseReadOnly { path: String } = "{path} is read-only, so nothing could be saved. Make it writable or choose another folder with BOSUN_DATA_DIR";
    DatabaseFileLocked { path: String } = "{path} is locked by another program. Close it (it may be a second Bosun) and try again";
    DatabaseUnusable { path: String, detail: String } = "{path} cannot be opened: {detail}. See what is wrong with it there, or choose another data folder with BOSUN_DATA_DIR";
    JournalUnwritable { detail: String } = "Bosun's database could not be written: {detail}; see whether the data folder can be written to, and go on";
    DiskFull = "the disk is full, so this could not be saved; free some space and go on";
    DatabaseLocked = "Bosun's database is locked by another program; close it and go on";
    DatabaseDamaged { detail: String } = "Bosun's database is damaged: {detail}. Nothing was overwritten; restore it from a backup in the data folder";
    NotInDatabase { what: String } = "{what} is not in the database";
    EntryUnreadable { entry: u32, detail: String } = "entry {entry} cannot be read: {detail}; the session is kept as it is";
    DatabaseFailed { detail: String } = "Bosun's database could not be used: {detail}; see whether the data folder can be written to, and start Bosun anew";
    ContentMissing { hash: String } = "the stored content {hash} is missing; restore the app's data folder from a backup";
    ContentDamaged { hash: String, detail: String } = "the stored content {hash} is damaged ({detail}); restore the app's data folder from a backup";
    ContentDiskFull = "the disk is full, so content could not be stored; free some space and try again";
    ContentUnusable { path: String, detail: String } = "the content store at {path} cannot be used: {detail}; see whether that folder can be read and written, and try again";
    NothingKept = "nothing is kept in this run, so that nothing can be put back; run it without --no-store";
    NothingAttachable = "nothing is kept in this run, so that nothing can be attached; run it without --no-store";
    NotRecorded { why: Box<Problem> } = "{why}. Nothing was done that is not recorded; continue the turn once this is mended";

    // Calls that would fail.
    NotReadYet { path: String } = "the agent has not read '{path}' yet; it will be told to read it first";
    TextNotFound { path: String } = "the text to replace is not in '{path}'; the agent will be told to read it again";
    TextNotUnique { path: String, count: u32 } = "the text to replace is in '{path}' {count} times; the agent will be told to take in more of its surroundings";
    TextEmpty { path: String } = "nothing is named that would be replaced in '{path}'; the agent will be told to give the exact text";
    NothingToChange { path: String } = "'{path}' would not change; the agent will be told to give the text it should become";
    NoShell = "no commands are run here; the agent will be told to do without";
    CommandEmpty = "the command is empty; the agent will be told to give one";
    CommandNul = "the command holds a NUL byte, which no command line can; the agent will be told to leave it out";
    CommandTooLong { bytes: u32, most: u32 } = "the command has {bytes} bytes, over the limit of {most}; the agent will be told to put it into a file";
    BadTimeout { given: String, most: u32 } = "a timeout of {given} s is not possible; use 1 to {most}";

    // Project folders.
    ProjectMissing { path: String } = "the folder {path} does not exist; choose another, or make it first";
    ProjectIsFile { path: String } = "{path} is a file, not a folder; choose the folder it is in";
    ProjectUnreadable { path: String } = "the folder {path} cannot be read with your rights; ask its owner, or choose another";
    ProjectIsHome { path: String } = "{path} is your home folder, with your keys and settings in it; choose or make a folder inside it";
    ProjectAboveHome { path: String } = "{path} holds your home folder, with your keys and settings in it; choose or make a folder inside your home";
    ProjectHoldsData { path: String, data: String } = "{path} holds Bosun's own data ({data}), which no agent may change; choose a folder with one project in it";
    ProjectInData { path: String, data: String } = "{path} is in Bosun's own data folder {data}, which no agent may change; choose a folder elsewhere";
    ProjectIsMachine { path: String } = "{path} is the whole machine; choose a folder with one project in it";
    ProjectUnusable { path: String, detail: String } = "the folder {path} cannot be used: {detail}; choose another";
    ProjectGone = "the project folder is gone or was replaced; nothing was changed. Bring it back or open another folder";
    SandboxMissing { program: String, remedy: String } = "{program} is not on this machine; add it with {remedy}";
    SandboxUnusable { detail: String } = "bubblewrap is here and cannot be used: {detail}; let programs make user namespaces: on Ubuntu with an AppArmor profile for bwrap that has `userns,` in it (or `sysctl kernel.apparmor_restrict_unprivileged_userns=0`), on Debian with `sysctl kernel.unprivileged_userns_clone=1`, in a container by what its engine allows";
    SandboxElsewhere = "there is no sandbox for commands on this system: it takes Linux with bubblewrap";
    EngineUnusable { program: String, detail: String } = "{program} is here and cannot be used: {detail}; see whether `{program} info` works in a terminal, and start its service where it does not";
    HostBadName { given: String } = "'{given}' cannot be the name of a host: it may hold no blanks and not begin with a dash; use another name";
    ContainerBadName { given: String } = "'{given}' cannot be the name of a container or image: it may hold no blanks and not begin with a dash; use another name";
    ContainerComma { given: String } = "'{given}' cannot be the name of a folder for a container: its path may hold no comma; use another name";
    ContainerNone { name: String, program: String, detail: String } = "no container can be had from '{name}': {program} says: {detail}; name a container that runs, or an image that is here or has its registry in its name";
    ContainerTakesNone { name: String, program: String } = "the container '{name}' is there already, and no folder can be mounted in it any more; leave the folder out to work on what is in it, copy it there with `{program} cp`, or name an image";
    ProjectUnknown = "this project is not known any more; open its folder again";
    SampleTooMany { most: u32 } = "there are {most} sample projects already; delete one of them, or choose another folder";
    SampleNotPlaced { folder: String, detail: String } = "the sample project was not put into {folder}: {detail}. Choose another folder";

    // Files.
    PathLeaves { path: String } = "the path '{path}' leaves its root with '..'; use a path from /, without '..'";
    PathOfHome { path: String } = "the path '{path}' starts at a home folder; use a path from /, where / is the project";
    PathOfWindows { path: String } = "'{path}' is a Windows path; use a path from /, where / is the project, with forward slashes";
    PathOfDevice { path: String } = "the path '{path}' names a device of Windows, not a file; use another name";
    PathWithNul { path: String } = "the path '{path}' holds a NUL byte, which no file name can; use a name without it";
    PathTooLong { path: String, limit: u32 } = "the path '{path}' is longer than {limit} bytes; use a shorter name";
    NoPath = "this is no path: it is empty, too long or has a NUL in it; give one from /";
    NameMissing = "a file needs a name; write one";
    FileNotFound { path: String } = "there is no file '{path}'; look in the folder it should be in";
    FolderNotFound { path: String } = "there is no folder '{path}'; look in the folder above it";
    NotAFolder { path: String } = "'{path}' is not a folder; choose the folder that the file is in";
    IsAFolder { path: String } = "'{path}' is a folder, not a file; choose a file in it";
    NameTaken { path: String } = "there is something called '{path}' already; choose another name";
    NotRegular { path: String } = "'{path}' is not a regular file and is never opened; use a regular file instead";
    OutsideRoot { path: String } = "'{path}' leads outside its root through a link or a mount, so it is not touched; use a path that stays inside, or copy what it leads to there";
    LinkLoop { path: String } = "'{path}' cannot be followed: its links form a loop or are nested too deeply; use the path of what they should lead to, or delete the link";
    LinkToProtected { path: String } = "'{path}' leads through a link to a protected name, so it is not touched; use the path that it leads to";
    Forbidden { path: String } = "permission denied for '{path}': the access rights on the disk do not allow it; use another path, or change them there";
    ForbiddenByRule { path: String } = "permission denied for '{path}': a rule of this agent forbids it; go on without it, or have the rule changed where the agent is declared";
    FileChanged { path: String } = "'{path}' changed since it was looked at; look at it again";
    FileUnstable { path: String } = "'{path}' kept changing while it was read; try again when whatever writes it is done";
    FileTooLarge { path: String, megabytes: u32 } = "'{path}' is larger than {megabytes} MB; keep such a file in a project";
    FileOverLimit { path: String, size: String, limit: String } = "'{path}' is {size} bytes, over the limit of {limit}; work with smaller parts of it";
    NotText { path: String } = "'{path}' is no text; convert it to UTF-8, or use a program made for it";
    Binary { path: String } = "'{path}' is binary, and text edits do not apply to it; use a program made for its format";
    ContentLost { path: String } = "what '{path}' holds was kept in the app's data folder and cannot be had from there any more; delete the file, write it anew, or restore that folder from a backup";
    FileDiskFull { path: String } = "the disk is full; '{path}' was not changed. Free some space and try again";
    FileReadOnly { path: String } = "'{path}' is read-only here; write to another place, or make this one writable";
    FileImmutable { path: String } = "'{path}' was left as it is: it, or the folder it is in, is marked immutable or append-only. Look with lsattr and take the mark off with chattr";
    CannotDelete { path: String } = "nothing can be deleted where '{path}' is kept; leave it there, or change what is in it";
    RootProtected { path: String } = "'{path}' cannot be deleted: the root '/' and mounts stay; delete what is in it";
    FolderGone { path: String } = "the folder behind '{path}' is gone or was replaced, so nothing was changed; bring it back, or go on without it";
    PlaceSilent { path: String, detail: String } = "what '{path}' is kept in does not answer: {detail}; try again once it does, or go on without it";
    FileFailed { path: String, detail: String } = "'{path}' cannot be used: {detail}; see whether the place it is kept in can be read and written, and try again";
    FilesFailed { detail: String } = "the files cannot be used: {detail}; see whether the place they are kept in can be read and written, and try again";
    Gone { path: String } = "'{path}' is not there any more; look in the folder it was in";
    EditedMeanwhile { path: String } = "'{path}' was changed while you edited it; open it again to see what is there now";
    KeptByBosun { path: String } = "'{path}' is kept by Bosun, not on this machine's disk; look at it here";
    MayBeProgram { name: String } = "{name} may be a program, so it is not opened from here; show it in its folder";
    NoProgramFor { name: String, detail: String } = "this system opened no program for {name}: {detail}";
    NoFileManager { path: String, detail: String } = "this system opened no file manager for {path}: {detail}";
    TooManyOfAName { name: String } = "there are too many files called '{name}' in this folder; rename or delete some of them";
    NotWatched { detail: String } = "changes in these folders cannot be noticed: {detail}";

    // Changes and undoing them.
    NotChanged { path: String } = "this session has not changed '{path}'";
    AsBefore { path: String } = "'{path}' is as it was before this session";
    LeftAsItIs { why: Box<Problem> } = "{why}; it was left as it is";
    CannotPutBack { path: String, why: Box<Problem> } = "'{path}' cannot be put back: {why}";
    ChangedSince { path: String } = "'{path}' was changed since in the same places, by you or by another program; it was left as it is: restore the agent's version first, or change the file yourself";
    BytesNotKept { path: String } = "'{path}' was changed by a command and its bytes before were not kept; it stays as it is";
    OthersPutBack { why: Box<Problem> } = "{why}; the other files were put back";
    NothingTakenBack { why: Problems } = "nothing was taken back: {why}";
    NoRewind = "there is no rewind to undo, or something has happened since";
    PlaceGone = "this place of the session is not there any more; look at the timeline";
    UndoGone = "this undo cannot be taken back any more; look at the timeline";
    UndoNotLast = "the files were changed or put back again since; bring back what was undone last first";
    NoImage { path: String } = "'{path}' is no image that can be shown here";
    ChangedMeanwhile = "the file was changed meanwhile; look at what is there now";

    // Sessions and turns.
    NothingThere = "there is nothing with this id";
    NoSuchRow = "there is no row with this id";
    NoSuchRequest = "there is no request with this id";
    SessionGone = "this session does not exist any more";
    SessionElsewhere = "this session is open in another Bosun; close it there first";
    TooManySessions = "too many sessions are shown at once; close some of them";
    TurnRunning = "a turn is under way in this session; stop it first";
    TurnFinished = "the last turn is finished; send a message to go on";
    NothingToContinue = "there is nothing to go on with; send a message first";
    EmptyMessage = "there is nothing in this message; write something to send";
    NotQueued = "this message does not wait any more; its turn may have begun";
    EmptyTitle = "a title needs some letters";
    ForkUnreadable = "the new session was made and cannot be read; look for it in the list";
    SubagentIdle = "this subagent is not at work; it may have ended just now";
    PlanOfSubagent = "a subagent's plan is its own; tell its parent what should be different";
    PlanLineGone = "this line is not in the plan any more; the agent has changed it";
    PlanLineEmpty = "a line of the plan needs some words";
    PlanFull { most: u32 } = "a plan has at most {most} lines; drop one first";
    SummaryEmpty = "a summary needs words; undo it to send everything again";
    NothingSummedUp = "nothing of this conversation is summed up; it is sent as it is";
    SummaryOfSubagent = "a subagent's conversation is summed up as it grows; choose the session that sent it out";
    SummaryUnderWay = "a summary of this conversation is being made; wait until it is there, or stop it";
    NothingToCompact = "there is nothing to compact yet";
    CompactWhileRunning = "a turn is at work; wait until it has ended, or stop it, and compact then";
    NoSummary = "the model gave no summary; nothing was removed";
    SummaryTooLong = "the summary was longer than what it was to replace; nothing was removed";
    SummaryFailed { why: Box<Problem> } = "the summary could not be made ({why}); nothing was removed";
    SummaryNotSaved { why: Box<Problem> } = "the summary could not be saved: {why}";
    Stopped = "stopped";
    TextTooLong { megabytes: u32 } = "this text is longer than {megabytes} MB; put it into a file of the project instead";
    NameTooLong = "this name is longer than any name";
    PatternTooLong = "this pattern is too long";
    PageNotTold { detail: String } = "the page was not told: {detail}";

    // What goes along with a message.
    BytesIncomplete = "these bytes did not arrive whole; attach them again";
    AttachmentUnknown = "nothing of this session is kept under this name";
    AttachmentLost { name: String } = "'{name}' is not kept any more; attach it again";
    TooManyAlong { attachments: u32, mentions: u32 } = "a message takes at most {attachments} attachments and {mentions} mentions; send some with the next one";
    TooMuchAlong { megabytes: u32 } = "what goes along with this message is over {megabytes} MB together; send some of it with the next one";
    SendInParts = "too much goes along with this message; send it in parts";
    BeyondModels = "this file is larger than what models take; put it into the project folder and name it there";
    AttachmentEmpty { name: String } = "'{name}' is empty, so there is nothing to look at";
    ImageTooLarge { name: String, size: u32, limit: u32 } = "'{name}' has {size} bytes and an image may have {limit}; make it smaller";
    DocumentTooLarge { name: String, size: u32, limit: u32 } = "'{name}' has {size} bytes and a PDF may have {limit}; attach the pages that matter";
    AttachedTextTooLarge { name: String, size: u32, limit: u32 } = "'{name}' has {size} bytes and a text may have {limit}; put it into the project folder and name it there, and it is read part by part";
    PictureBursts { name: String } = "'{name}' would unpack to far more pixels than its size makes believe; save it anew as an ordinary picture";
    TooManyPixels { name: String, width: u32, height: u32, most: u32 } = "'{name}' has {width} by {height} pixels and models take at most {most} a side; make it smaller";
    NotAttachable { name: String } = "'{name}' is neither text nor a PNG, JPEG, GIF, WebP or PDF file that is whole; put it into the project folder and name it there";
    MentionGone { path: String } = "'{path}' is not there any more; take it out of the message or name another one";

    // Approvals and rules.
    NotPending { call: String } = "no call '{call}' is waiting for a decision; it was decided before, or its turn was stopped";
    AskChanged = "what is asked for changed since it was shown; look at the request again";
    DecisionNotAllowed { given: String, tool: String, allowed: String } = "'{given}' is not allowed for {tool}; allowed: {allowed}";
    BadArguments { detail: String } = "the arguments do not fit: {detail}";
    EmptyResponse = "an answer in the tool's place needs some text";
    AnsweredTwice { call: String } = "the call '{call}' is answered twice here; answer it once";
    ModelName = "a model is a provider and a name of at most 256 letters each";
    TooManyDecisions = "answer 1 to 1,000 requests at once";
    TooManyNewRules = "make 1 to 1,000 rules at once";
    NotApproved = "nothing was approved: it was not confirmed in the system's own dialog";
    NotKept = "nothing was kept: it was not confirmed in the system's own dialog";
    NotWaiting = "this call does not wait for an answer any more";
    RuleGone = "this rule does not exist any more";
    RuleNotApproved = "a rule is made with the approval of its call as it is";
    RulePattern { pattern: String } = "the pattern '{pattern}' cannot be a rule; write another one";
    TooManyRules { most: u32 } = "there are {most} rules already; remove some in Settings, Permissions";

    // Memories, skills, subagents, what a project brings.
    VersionGone = "this version is not kept any more; choose another one";
    VersionUnreadable = "this version cannot be read any more; choose another one";
    MemoryWithoutProject = "a project's memory needs its project";
    SkillGone = "this skill, or this file of it, is not there any more";
    SkillFolder = "a skill's folder has one name";
    SkillName { name: String, most: u32 } = "'{name}' is no name for a skill: use lower-case letters, digits and single hyphens, at most {most}";
    SkillTaken { name: String } = "there is a skill called '{name}' already; choose another name";
    SkillPurpose = "say what the skill is for: by its description the model decides when to use it";
    NoSkill { why: Box<Problem> } = "this is no skill: {why}";
    SkillFileNeeded = "a skill is nothing without its SKILL.md; delete the skill instead";
    NoSkillInIt = "there is no SKILL.md in it; a skill is a folder with such a file";
    SkillFileUnusable { path: String, why: Box<Problem> } = "'{path}': {why}";
    SkillTooLarge { files: u32, megabytes: u32 } = "it has more than {files} files or {megabytes} MB; a skill is not that large";
    SkillNameLetters = "the name may only have lower-case letters, digits and single hyphens inside";
    SkillNameLong { most: u32 } = "the name is longer than {most} characters";
    SkillNameOther { folder: String } = "the name is not that of its folder, '{folder}'";
    DescriptionCut { most: u32 } = "the description is cut at {most} characters";
    CompatibilityCut { most: u32 } = "the compatibility is cut at {most} characters";
    BroughtTooLarge { path: String, megabytes: u32 } = "{path} is larger than {megabytes} MB and is not used";
    FrontMatterMissing = "it does not begin with a line of three dashes and a front matter";
    FrontMatterOpen = "the front matter is not closed by a line of three dashes";
    FrontMatterLong { most: u32 } = "the front matter is longer than {most} bytes";
    FrontMatterYaml { detail: String } = "the front matter is no valid YAML: {detail}";
    FrontMatterByLine { detail: String } = "the front matter is no valid YAML ({detail}); its lines were read one by one";
    FieldMissing { field: String } = "the front matter has no '{field}'";
    FieldNotText { field: String } = "'{field}' must be a text";
    FieldNotNames { field: String } = "'{field}' must be a list of names";
    FieldNotAsks { field: String } = "'{field}' must be a list of names, or say for each name whether it asks (true, false) or how (allowed, description, timeout_seconds)";
    FieldNotFolders { field: String } = "'{field}' must be a list of folders";
    FieldNotSchema { field: String } = "'{field}' must be a JSON schema of an object";
    FieldNotNumber { field: String } = "'{field}' must be a whole number above 0";
    FieldNotEffort { field: String } = "'{field}' must be one of off, low, medium, high and max";
    FieldNotRules { field: String } = "'{field}' must be a list of rules, each with 'operations' (read, write), 'paths' from / and a 'mode' (allow, interrupt, deny)";
    RulePathNotFromRoot { path: String } = "the path '{path}' of a rule has to begin with /";
    RulePathUp { path: String } = "the path '{path}' of a rule holds '..', which no path does";
    RulePathOfHome { path: String } = "the path '{path}' of a rule begins at a home folder; begin at /";
    RulePathBraces { path: String, most: u32 } = "the braces of '{path}' stand for more than {most} paths; write several rules";
    FieldUnknown { field: String } = "'{field}' is not known and has no effect";
    SubagentGone = "this subagent is not there any more";
    SubagentName = "a subagent has a name of letters, digits and hyphens";
    SubagentBadName { name: String } = "'{name}' is no name for a subagent: use lower-case letters, digits and single hyphens, at most 64";
    NoSubagent { why: Box<Problem> } = "this is no subagent: {why}";
    SubagentTwoNames { declared: String, called: String } = "the file declares '{declared}', but is called '{called}'; give both one name";
    SubagentStays = "the general-purpose subagent cannot be switched off; one of that name replaces it";
    SubagentTwice { name: String } = "two subagents are called '{name}'; rename one of them";
    SubagentModel { name: String } = "the subagent's model '{name}' is not set up; set it up, or take the model out of the subagent";
    SubagentModelElsewhere { name: String } = "the subagent's model '{name}' is not on this machine, as that of its sender is, so that nothing is sent to it; take the model out of the subagent, or give the session a model that is not here either";
    ToolUnknown { name: String, known: String } = "there is no tool '{name}' here; there are: {known}";
    NoDecision { tool: String } = "'{tool}' asks, but nothing may be decided; allow at least one decision";
    NotBrought { path: String } = "'{path}' is not there any more, or nothing goes by it";
    SeenAnother { path: String } = "'{path}' changed while you looked at it; look at it again";
    LinkTooLong = "this link is not opened: its address is too long";
    LinkWithBlanks = "this link is not opened: its address holds blanks or control characters";
    LinkUnreadable = "this link is not opened: its address cannot be read";
    LinkWithoutHost = "this link is not opened: it names no host";
    LinkWithUser = "this link is not opened: it carries a user name, which hides the real host";
    LinkScheme { scheme: String } = "this link is not opened: only web and mail addresses are, not {scheme}:";
    DialogOpen = "a dialog is open already; answer it first";
    ArchiveTooLarge { megabytes: u32 } = "this archive is larger than {megabytes} MB; bring in less at once";
    RouteAtRoot = "a route cannot be at '/', which is the default's; give it a folder of its own, such as /memories";
    PlaceAtRoot = "at '/' there can only be another machine or a container, and not read_only; give it a folder of its own, such as /memories";
    RouteTwice { prefix: String } = "two routes are at '{prefix}'; give each a folder of its own";
    DeclaredRoute { prefix: String, why: Box<Problem> } = "what is set up at '{prefix}' cannot be opened: {why}";
    RouteNoNamespace { prefix: String } = "the store at '{prefix}' needs a 'namespace', under which its files are kept";
    RouteNoFolder { prefix: String } = "the folder at '{prefix}' needs its 'folder', a whole path of this machine";
    RoutePartOfPath { prefix: String, folder: String } = "the 'folder' of '{prefix}' has to be a whole path of this machine, not \"{folder}\"";
    RouteNoHost { prefix: String } = "the other machine at '{prefix}' needs its 'host', as `ssh HOST` has it";
    RouteNoContainer { prefix: String } = "the container at '{prefix}' needs its 'container', the name of one that runs or of an image";
    RouteMisplaced { prefix: String, field: String, with: String } = "'{field}' at '{prefix}' is for the kind {with} only; leave it out";
    RoutesOfProject = "more folders beside the project are yours to set up, not the project's; take its [[routes]] out";
    LimitsOfProject = "the limits of a turn are yours to set, not the project's; take its [limits] and [guards] out";
    DeclarationUnused { path: String, detail: String } = "{path} is not used: {detail}";
    NoNamespace { given: String } = "'{given}' is not a namespace: use non-empty names of letters, digits and - _ . @ + : ~";
    BadSearch { given: String, detail: String } = "the search text '{given}' cannot be used: {detail}";
    ToolTwice { name: String } = "two tools are called '{name}'; rename or remove one of them";
    StateFieldTwice { name: String } = "the state field '{name}' is declared twice and not the same way; rename or remove one of them";
    AdditionsTooLong = "this is longer than 256 KB; servers, hooks and folders are a few lines each";
    AdditionsUnreadable { detail: String } = "this cannot be used: {detail}";
    ServerName { name: String, why: Box<Problem> } = "'{name}' cannot be the name of a server: {why}";
    ServerTwice { name: String } = "two servers are called '{name}'; rename one of them";
    ServerNoReach { server: String } = "the server '{server}' needs either a command or a url; give one of them";
    ServerTwoReaches { server: String } = "the server '{server}' has both a command and a url; leave one out";
    ServerMisplaced { server: String, field: String, with: String } = "'{field}' of the server '{server}' is for servers with a {with}; leave it out";
    ServerUrl { server: String, why: Box<Problem> } = "the url of the server '{server}' cannot be used: {why}";
    ServerValue { server: String, field: String, given: String, why: Box<Problem> } = "'{field}' of the server '{server}' cannot hold \"{given}\": {why}";
    ServerSeconds { server: String, field: String, given: String, most: u32 } = "'{field}' of the server '{server}' is {given} seconds; use 1 to {most}";
    ServerNameLetters = "a name begins with a letter or digit and holds letters, digits, - and single _";
    ServerNameLong { most: u32 } = "a name has at most {most} characters";
    NoProgram = "name a program";
    NulInArgument = "no program takes a NUL byte";
    NoVariable = "this is no variable";
    NoHeader = "this is no header";
    NoAddress = "it is no address";
    SecretInAddress = "put what signs in into headers, not into the address";
    AddressNotSafe = "only https is safe on the way to another machine";
    AddressScheme = "it begins with neither https: nor http:";
    SignInUnknown { server: String } = "there is no server of tools called '{server}' here; look at its name where servers are declared";
    SignInNoAddress { server: String } = "'{server}' is a program of this machine, where nobody signs in";
    SignInUnsupported { detail: String } = "the server does not say how to sign in: {detail}; give it a token as a header instead";
    SignInUnsafe { url: String } = "the server wants a page opened that is no https page ({url}), so it was not opened";
    SignInNoPort { detail: String } = "no port of this machine could be opened for the way back: {detail}";
    SignInRefused { detail: String } = "signing in was refused: {detail}; begin again, or give the server a token as a header";
    SignInTooLate { minutes: u32 } = "nobody signed in within {minutes} minutes; begin again when you are ready";
    SignInNotKept { detail: String } = "the tokens could not be kept: {detail}; unlock the keyring and begin again";
    SignInNotForgotten { detail: String } = "you are still signed in: {detail}";
    SignInGivenUp = "this sign-in was given up; begin again";
    ServerNotStarted { detail: String } = "could not be started: {detail}";
    ServerEndedAtStart { why: Box<Problem> } = "could not be started: {why}";
    ServerSilentAtStart { seconds: String } = "did not answer within {seconds} seconds of its start";
    ServerSilent { seconds: String } = "did not answer within {seconds} seconds; the call was given up and may still be at work";
    ServerRefused { detail: String } = "refused: {detail}";
    ServerWithdrawn = "was removed from the settings or changed there since this session began; begin another session to have it as it is there now";
    ServerHeaderMissing { header: String } = "the value of its header '{header}' is not in the keyring; enter it again";
    VariableMissing { variable: String } = "the value of its variable '{variable}' is not in the keyring; enter it again";
    ServerWantsSignIn = "wants somebody to sign in first";
    ServerSessionEnded = "was ended with its session";
    ServerEnded = "ended";
    ServerEndedWith { code: i32 } = "ended with code {code}";
    ServerEndedBy { signal: i32 } = "was ended by signal {signal}";
    ServerLastSaid { why: Box<Problem>, detail: String } = "{why}; it last said: {detail}";
    ServerPipes = "closed its pipes and was ended";
    ServerMessageTooLarge { megabytes: u32 } = "sent a message of more than {megabytes} MB and was ended";
    ServerTooMuch { megabytes: u32 } = "wrote more than {megabytes} MB without an answer and was ended";
    ServerUnreachable { detail: String } = "could not be reached: {detail}";
    ServerToolTwice { tool: String } = "{tool}: there are two of this name";
    ServerToolUnusable { tool: String, why: Box<Problem> } = "{tool}: {why}";
    ServerTools { more: u32, most: u32 } = "{more} more: a server may have {most} tools";
    ServerToolName { bytes: u32 } = "its name has {bytes} bytes";
    ServerToolLong { bytes: u32, most: u32 } = "its arguments take {bytes} bytes to describe, over the limit of {most}";
    ServerToolArgument { name: String } = "its argument '{name}' has a name that models cannot use";
    ServerToolDeep { most: u32 } = "the description of its arguments is nested or repeated beyond {most} parts";
    ServerToolNoObject { detail: String } = "its arguments are no object but {detail}";
    HookName { given: String, most: u32 } = "a hook needs a name of 1 to {most} letters, digits, spaces, - and _, not \"{given}\"";
    HookTwice { name: String } = "two hooks are called '{name}'; rename one of them";
    HookNoCommand { hook: String } = "the hook '{hook}' needs a command: the program to run";
    HookValue { hook: String, field: String } = "'{field}' of the hook '{hook}' holds a NUL byte or is no variable";
    HookTimeout { hook: String, given: String, most: u32 } = "the timeout of the hook '{hook}' is {given} seconds; use 1 to {most}";
    HookTools { hook: String, point: String } = "the hook '{hook}' names tools, which only before_tool and after_tool have; leave them out at {point}";
    HookFailure { hook: String, wanted: String, point: String } = "the hook '{hook}' cannot {wanted} at {point}; use go_on there";
    ToolChangedAgain = "this tool changed again or is gone; look at it anew";
    NothingToWrite = "there is nothing to write";
    ImportOutside { name: String } = "'{name}' leads outside of what it is in; nothing was brought in";
    ImportLink { name: String } = "'{name}' is a link; bring in the files themselves";
    ImportNotRegular { name: String } = "'{name}' is no regular file; nothing was brought in";
    ImportFileTooLarge { name: String, megabytes: u32 } = "'{name}' is larger than {megabytes} MB; leave it out";
    ImportTooMuch { files: u32, megabytes: u32 } = "there are more than {files} files or {megabytes} MB in it; bring in less at once";
    ImportTwice { name: String } = "'{name}' is in there twice; leave one of them out";
    ImportNoArchive { path: String, detail: String } = "{path} is neither a folder nor a zip archive that can be read: {detail}";
    ImportUnusable { path: String, detail: String } = "{path} cannot be used: {detail}";

    // Models and providers.
    NoModelChosen = "no model is chosen for this session; choose one in its title bar";
    ProviderUnknown { id: String } = "there is no provider \"{id}\"";
    ProviderGone { id: String } = "the provider \"{id}\" is no longer set up; choose another model";
    ProviderLabel = "a provider needs a name of 1 to 80 characters";
    BaseUrlTooLong = "the base URL is too long; it should look like https://models.example/v1";
    TourBuiltIn = "the tour is built in and cannot be added";
    FamilyFixed = "a built-in provider keeps its kind; add a new one instead";
    NoKey = "this is no key: it is too long, or has blanks or line breaks in it";
    KeyMissing { provider: String } = "{provider} needs a key; enter it in the settings";
    KeyLocked { provider: String, why: Box<Problem> } = "the key of {provider} is kept, but not given out: {why}";
    ProviderNone { id: String, known: String } = "there is no provider \"{id}\"; there are {known}, and those set up in Bosun's settings";
    KeyNowhere { provider: String, variable: String, page: String } = "{provider} needs a key, and neither the variable {variable} nor the keyring has one; set {variable}, or enter the key in Bosun's settings. Keys are made at {page}";
    KeyringLocked { provider: String, why: Box<Problem> } = "the keyring has the key of {provider} and does not give it out ({why})";
    KeyringLockedOr { provider: String, why: Box<Problem>, variables: String } = "the keyring has the key of {provider} and does not give it out ({why}); or set {variables}";
    KeyringMissing { detail: String } = "no keyring answers on this system ({detail}); unlock or install one (for example gnome-keyring) to keep keys";
    KeyringIsLocked = "the keyring is locked; unlock it and try again";
    KeyringSlow { seconds: String } = "the keyring did not answer within {seconds} seconds; answer what it asks, or unlock it, and try again";
    KeyringOther = "the keyring gave back another key than it was given; enter the key again, or look at the keyring";
    KeyringRefused { detail: String } = "the keyring did not take the key: {detail}; unlock it and enter the key again";
    KeyringUnremoved { detail: String } = "the keyring did not remove it: {detail}; unlock it and try again, or remove it there";
    KeyStays { why: Box<Problem> } = "the key is still in the keyring: {why}";
    KeyLeft { why: Box<Problem> } = "Bosun no longer uses its key, but could not take it out of the keyring ({why}); remove it there";
    NotLocal = "this is not one of the addresses at which Bosun looks; add the server by its base URL";
    TooManyModels = "there are too many models in these settings; take some out";
    ModelUnnamed = "a model needs its provider and its name";
    ModelWithoutTokens { model: String } = "{model}: a window and an output of no tokens cannot be";
    ModelPrice { model: String } = "{model}: a price is a number of US dollars from 0 on";
    BudgetNumber = "a budget is a number of US dollars above 0; leave it empty for none";
    WaitNumber = "a wait is between one second and a day; leave it empty for the usual one";
    SettingsUnreadable { detail: String } = "these settings cannot be used: {detail}";

    // Model calls.
    KeyRefused { host: String, status: u16 } = "{host} refused the key (status {status}); enter another";
    NothingAtAddress { host: String, status: u16, address: String } = "{host} has nothing at this address (status {status}): asked at {address}; check the base URL; check the model, too";
    NothingWithoutVersion { host: String, status: u16, address: String } = "{host} has nothing at this address (status {status}): {address} has no /v1 at its end; most servers want it; check the model, too";
    FewerRequests { host: String, status: u16 } = "{host} wants fewer requests (status {status}); wait a little";
    PayFirst { host: String, status: u16 } = "{host} wants to be paid first (status {status}); add credit there, or choose another model";
    Overloaded { host: String, status: u16 } = "{host} failed or is overloaded (status {status}); try again later";
    RefusedSilently { host: String, status: u16 } = "{host} refused the request (status {status}) without saying why; choose another model, or look at the provider's settings";
    AddressWrong { detail: String, address: String } = "{detail} (asked at {address}; check the base URL)";
    AddressWithoutVersion { detail: String, address: String } = "{detail} ({address} has no /v1 at its end; most servers want it)";
    ErrorWithoutWords { host: String } = "{host} reported an error without a word about it; try again, or choose another model";
    OtherJson { address: String } = "{address} answered with JSON that is not a model's reply instead of a stream of events; check the base URL, and whether this network wants you to sign in first";
    OtherJsonWithoutVersion { address: String } = "{address} answered with JSON that is not a model's reply instead of a stream of events; the base URL of most servers ends in /v1, and some networks want you to sign in first";
    SomethingElse { address: String } = "{address} answered with something else instead of a stream of events; check the base URL, and whether this network wants you to sign in first";
    SomethingElseWithoutVersion { address: String } = "{address} answered with something else instead of a stream of events; the base URL of most servers ends in /v1, and some networks want you to sign in first";
    WebPage { address: String, title: String } = "{address} answered with a web page{title}, not as a model server; check the base URL, and whether this network wants you to sign in first";
    WebPageWithoutVersion { address: String, title: String } = "{address} answered with a web page{title}, not as a model server; the base URL of most servers ends in /v1, and some networks want you to sign in first";
    CertificateDate { host: String, detail: String } = "the certificate of {host} cannot be trusted ({detail}); check this computer's date and time";
    Certificate { host: String, detail: String } = "the certificate of {host} cannot be trusted ({detail}); something on the network may be in between";
    NotSecure { address: String, detail: String } = "no secure connection to {address} could be made ({detail}); check the base URL, and what stands in between on the network";
    NotAccepted { address: String } = "{address} did not accept a connection in time; try again, or check the base URL and the network";
    HostUnknown { host: String, detail: String } = "the host {host} cannot be found ({detail}); check the base URL and the network";
    NothingAnswers { address: String, detail: String } = "nothing answers at {address} ({detail}); is the server running there?";
    ProxyWantsPassword { host: String } = "the proxy on the way to {host} wants a name and a password; enter both beside the proxy in Settings, Models, or set HTTPS_PROXY with both (http://NAME:PASSWORD@PROXY:PORT) where Bosun is started";
    ProxyRefused { host: String, detail: String } = "the proxy on the way to {host} does not let the request through ({detail}); ask whoever runs it, or look at the proxy in Settings, Models";
    ProxyUnreached { host: String, detail: String } = "the proxy on the way to {host} cannot be reached ({detail}); look at the proxy in Settings, Models, at HTTPS_PROXY, and in the settings of the desktop";
    ProxyScript { host: String, desktop: String, detail: String } = "{host} cannot be reached without a proxy ({detail}). The settings of {desktop} name a script for it (PAC), which Bosun does not run: enter the proxy in Settings, Models, or set HTTPS_PROXY";
    BrokeBeforeReply { address: String, detail: String } = "the connection to {address} broke before a reply came ({detail}); try again";
    OnlyPart { host: String, seconds: String } = "{host} sent only part of an answer for {seconds} s and was given up; try again, or choose another model";
    NoAnswer { host: String, seconds: String } = "{host} sent no answer for {seconds} s and was given up; try again, or choose another model";
    StillSending { host: String, seconds: String } = "{host} was still sending the same reply for {seconds} s and was given up; try again, or choose another model";
    SentNothing { host: String, seconds: String } = "{host} sent nothing for {seconds} s and was given up; try again, or choose another model";
    SentNothingMore { host: String, seconds: String } = "{host} sent nothing more for {seconds} s and was given up; try again, or choose another model";
    Redirected { address: String, to: String } = "{address} sends requests on to {to}. Bosun does not follow, so that a key never goes where it was not entered for; if you trust that address, make it the base URL";
    ReplyCut { host: String } = "the reply from {host} broke off before it was complete; try again";
    ReplyBroken { host: String, detail: String } = "the reply from {host} broke off before it was complete ({detail}); try again";
    ReplyUnfinished = "the reply ended before it was complete; try again";
    BadFormat { host: String, detail: String } = "the reply from {host} does not keep to its own format: {detail}; try again, or choose another model";
    NetworkUnusable { detail: String } = "this system's network settings cannot be used: {detail}; look at the proxy and the certificates in Settings, Models";
    KeyCharacters = "the key holds characters that no key has (a line break, perhaps); enter it again";
    HeaderName { name: String } = "the header \"{name}\" has a name that HTTP does not allow; use letters, digits and hyphens";
    HeaderValue { name: String } = "the header \"{name}\" has a value that HTTP does not allow; leave out line breaks and control characters";
    HeaderTooMuch { most: u32, bytes: u32 } = "a provider has at most {most} headers of at most {bytes} bytes each";
    HeaderReserved { name: String } = "the header \"{name}\" is sent by Bosun itself; leave it out";
    NoModelNamed = "no model was named";
    BaseUrlScheme { url: String, example: String } = "the base URL \"{url}\" has no http:// or https:// in front; it should look like {example}";
    BaseUrlUnreadable { url: String, detail: String, example: String } = "the base URL \"{url}\" cannot be read ({detail}); it should look like {example}";
    BaseUrlOther { url: String, scheme: String, example: String } = "the base URL \"{url}\" is neither http nor https but {scheme}; it should look like {example}";
    BaseUrlHostless { url: String, example: String } = "the base URL \"{url}\" names no host; it should look like {example}";
    BaseUrlUnnamed { url: String, place: String } = "the base URL \"{url}\" lacks the name that your account has there; put it in place of {place}";
    BaseUrlSecret = "the base URL holds a user name or password; enter the key in its own field instead";
    BaseUrlQuery { name: String } = "the base URL has \"{name}\" in its query, which would be kept where everybody reads it. Leave it out; what a gateway wants to know you by goes among the custom headers of the provider, which the keyring keeps";
    ProxyAddress { address: String } = "the proxy \"{address}\" is no address; it should look like http://proxy.example:3128";
    ProxyScheme { scheme: String } = "the proxy speaks {scheme}; Bosun speaks http, https and socks5 to proxies";
    ProxySecret = "the proxy has a user name or password in it; enter them in their own fields, so that the keyring keeps them";
    ProxyLoginWrong = "this is no name and password of a proxy: line breaks and more than 1,024 letters cannot be in them";
    ProxyLoginNowhere = "there is no proxy in these settings to keep a name and a password for; enter its address first";
    ProxyLoginLocked { why: Box<Problem> } = "the keyring has the name and the password of the proxy and does not give them out ({why}); unlock it, or enter both once more beside the proxy in Settings, Models";
    ProxyUnusable { address: String } = "the proxy \"{address}\" cannot be used; it should look like http://proxy.example:3128";
    CertificatesUnreadable = "the certificates cannot be read as PEM; paste the text between BEGIN CERTIFICATE and END CERTIFICATE";
    CertificatesNone = "the certificates hold none; paste the text between BEGIN CERTIFICATE and END CERTIFICATE";
    AwsProfileSso { profile: String } = "the AWS profile {profile} signs in with SSO, for which Bosun asks the AWS CLI; install it and run `aws sso login --profile {profile}`, or enter a Bedrock API key";
    AwsProfileConsole { profile: String } = "the AWS profile {profile} signs in with the console, for which Bosun asks the AWS CLI; install it and run `aws login --profile {profile}`, or enter a Bedrock API key";
    AwsProfileProgram { profile: String, detail: String } = "the program that the AWS profile {profile} names gave no keys: {detail}; run it in a terminal, or enter a Bedrock API key";
    AwsProfileRole { profile: String } = "the AWS profile {profile} takes on a role, for which Bosun asks the AWS CLI; install it, or enter a Bedrock API key";
    AwsCliFailed { profile: String, detail: String } = "the AWS CLI gave no keys for the profile {profile}: {detail}; try `aws sts get-caller-identity --profile {profile}`, or enter a Bedrock API key";
    AwsLoginEnded { profile: String, command: String } = "the login of the AWS profile {profile} has run out, or there was none; run `{command}`, then try again";
    AwsProfileEmpty { profile: String } = "the AWS profile {profile} has no keys; start Bosun with what `aws configure export-credentials --format env` prints, or enter a Bedrock API key";
    AwsNothing { profile: String } = "there are no AWS credentials: no Bedrock API key, no AWS_ACCESS_KEY_ID, and no profile {profile} in ~/.aws; enter a Bedrock API key, or run `aws configure`";
    AwsUnsigned = "the request cannot be signed for AWS; check the base URL";
    GoogleFileUnreadable { path: String } = "GOOGLE_APPLICATION_CREDENTIALS names {path}, which cannot be read; set it to a file of credentials";
    GoogleNothing = "there are no Google credentials: no GOOGLE_APPLICATION_CREDENTIALS and no application-default credentials; run `gcloud auth application-default login`";
    GoogleFileForeign { path: String } = "{path} is no file of Google credentials; set GOOGLE_APPLICATION_CREDENTIALS to one";
    GoogleFileKind { path: String, given: String } = "{path} has credentials of the type \"{given}\"; Bosun takes authorized_user, service_account and impersonated_service_account";
    GoogleFileUnusable { path: String, given: String } = "{path} has credentials of the type {given} that cannot be used; make the file anew";
    GoogleNoToken { path: String } = "{path} gave no token; run `gcloud auth application-default login` again";
    GoogleUnreached { path: String, detail: String } = "Google gave no token for {path} ({detail}); check the network and try again";
    GoogleRefused { path: String } = "Google does not accept the credentials of {path}; run `gcloud auth application-default login` again";
    VertexNoProject = "Vertex AI wants to know which project pays: set GOOGLE_CLOUD_PROJECT, or write it into the base URL, as in https://us-east5-aiplatform.googleapis.com/v1/projects/PROJECT/locations/us-east5";
    RequestUnwritable { detail: String } = "the request cannot be written: {detail}";
    LimitOfSteps { limit: String } = "the turn reached its limit of {limit} model calls, subagents included; everything so far is kept, and continuing goes on with the same limit";
    LimitOfTokens { limit: String } = "the turn reached its limit of {limit} tokens, subagents included; everything so far is kept, and continuing goes on with the same limit";
    LimitOfDollars { limit: String } = "the turn reached its limit of {limit} US dollars, subagents included; everything so far is kept, and continuing goes on with the same limit";
    LimitOfSeconds { limit: String } = "the turn reached its limit of {limit} seconds of work; everything so far is kept, and continuing goes on with the same limit";
    SameFailures { tool: String, times: String } = "the model made the same call of {tool} {times} times and it failed each time, so the turn was ended; say what it should do instead, or continue the turn";
    AnswerNotHandedIn = "the model did not hand in its answer in the form that was asked for, though it was made to; what it said instead is kept: try again, or say what it should do";
    SessionBudget { limit: String, spent: String } = "the budget of ${limit} for this session is used up (${spent} spent); everything so far is kept: raise it in the settings under Models and continue the turn";
    DayBudget { limit: String, spent: String } = "the budget of ${limit} for today is used up (${spent} spent); everything so far is kept: raise it in the settings under Models and continue the turn";
    HookRefused { hook: String } = "the hook '{hook}' refused it";
    HookRefusedFor { hook: String, detail: String } = "the hook '{hook}' refused it: {detail}";
    SpendingUnknown { detail: String } = "what was spent cannot be read: {detail}";
    SessionCost { spent: String, limit: String } = "This session has cost ${spent}; you asked to be told at ${limit}";
    SessionCostStops { spent: String, limit: String, stop: String } = "This session has cost ${spent}; you asked to be told at ${limit}. It stops at ${stop}";
    DayCost { spent: String, limit: String } = "Today has cost ${spent}; you asked to be told at ${limit}";
    DayCostStops { spent: String, limit: String, stop: String } = "Today has cost ${spent}; you asked to be told at ${limit}. It stops at ${stop}";
    AsksAgain { seconds: String, why: Box<Problem> } = "asks again in {seconds} s: {why}";
    FellBack { from: String, to: String, detail: String } = "{from} is overloaded ({detail}); {to} answers the rest of this turn";
    ThinkingUnseen { model: String, detail: String } = "{model} thinks without showing it: the provider gives no summaries of its thinking ({detail})";
    HookBroke { hook: String, point: String, detail: String } = "The hook '{hook}' {detail}. It runs at {point}";
    KeyInMessage { model: String } = "What you wrote holds what looks like a key. It goes to {model} and stays in this session; if it is a real one, replace it where you got it";
    KeyInResult { tool: String, model: String } = "A result of {tool} holds what looks like a key. It goes to {model} and stays in this session; if it is a real one, replace it where you got it";
    SkillWrong { detail: String } = "Skills: {detail}";
    SubagentWrong { detail: String } = "Subagents: {detail}";
    SubagentLacks { name: String, tools: String } = "Subagents: '{name}' works without tools that are not here: {tools}";
    SecondMissing { model: String, detail: String } = "{model}, which is to answer where the session's model is overloaded, cannot be had ({detail}). Nobody stands in; mend it or choose another in the settings under Models";
    SmallMissing { model: String, detail: String } = "{model}, which is to write titles and summaries, cannot be had ({detail}). The session's own model writes summaries and nobody titles; mend it or choose another in the settings under Models";
    CostNotCounted { limit: String, model: String } = "A turn may cost ${limit}, but the price of {model} is not known, so what it costs is not counted. Enter the price in the settings under Models, or set a limit of tokens";
    BudgetNotCounted { model: String } = "There is a budget, but the price of {model} is not known, so what it costs is not counted towards it. Enter the price in the settings under Models";
    NotSummedUp { detail: String } = "The conversation is due to be summed up, but that failed ({detail}); it is sent as it is. Choose another model for summaries in the settings under Models, or compact it by hand";
    NotSummedUpEmpty = "The conversation is due to be summed up, but the model gave no summary; it is sent as it is. Choose another model for summaries in the settings under Models, or compact it by hand";
    NotSummedUpLonger = "The conversation is due to be summed up, but the summary was longer than what it was to replace; it is sent as it is. Choose another model for summaries in the settings under Models, or compact it by hand";
    SummedUpAgain = "The conversation was summed up again although you took its summary back: it no longer fits the window of this model. Choose a model with a larger window, or start a new session, to have all of it sent";
}

/// Several at once, as one sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(transparent)]
pub struct Problems(pub Vec<Problem>);

impl std::fmt::Display for Problems {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, problem) in self.0.iter().enumerate() {
            let between = if at == 0 { "" } else { "; " };
            write!(out, "{between}{problem}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "problem_tests.rs"]
mod tests;
