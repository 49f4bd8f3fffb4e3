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
    Internal { detail: String } = "something went wrong inside Bosun: {detail}; try again, and restart Bosun if it keeps happening";
    BadRequest { command: String, argument: String } = "the request {command} could not be understood: its {argument} is missing or invalid; restart Bosun and try again";

    // Where data lives.
    NoDataFolder = "this system has no home folder that Bosun can find; set BOSUN_DATA_DIR to the folder where its data should be kept";
    DataFolderMissing { path: String } = "the data folder {path} cannot be used: it does not exist and could not be created. Choose another with BOSUN_DATA_DIR";
    DataFolderForbidden { path: String } = "the data folder {path} cannot be used: you have no permission to write there. Choose another with BOSUN_DATA_DIR";
    DataFolderIsFile { path: String } = "the data folder {path} cannot be used: a file is in its place. Choose another with BOSUN_DATA_DIR";
    DataFolderReadOnly { path: String } = "the data folder {path} cannot be used: the disk is read-only. Choose another with BOSUN_DATA_DIR";
    DataFolderFull { path: String } = "the data folder {path} cannot be used: the disk is full. Choose another with BOSUN_DATA_DIR";
    DataFolderUnusable { path: String, detail: String } = "the data folder {path} cannot be used: {detail}. Choose another with BOSUN_DATA_DIR";
    DatabaseNewer { path: String, found: i32, known: i32 } = "{path} was written by a newer Bosun (format {found}; this version reads up to {known}). Nothing was changed; update Bosun to open it";
    DatabaseForeign { path: String } = "{path} is not a database. It was left as it is; move it elsewhere to start with a new one";
    DatabaseOfOther { path: String } = "{path} belongs to another program. It was left as it is; choose another folder with BOSUN_DATA_DIR";
    DatabaseReadOnly { path: String } = "{path} is read-only, so nothing could be saved. Make it writable or choose another folder with BOSUN_DATA_DIR";
    DatabaseFileLocked { path: String } = "{path} is locked by another program. Close it (it may be a second Bosun) and try again";
    DatabaseUnusable { path: String, detail: String } = "{path} cannot be opened: {detail}. Check that file, or choose another data folder with BOSUN_DATA_DIR";
    JournalUnwritable { detail: String } = "Bosun's database could not be written: {detail}; check that the data folder is writable, then continue";
    DiskFull = "the disk is full, so this could not be saved; free some space, then continue";
    DatabaseLocked = "Bosun's database is locked by another program; close that program, then continue";
    DatabaseDamaged { detail: String } = "Bosun's database is damaged: {detail}. Nothing was overwritten; restore it from a backup in the data folder";
    NotInDatabase { what: String } = "{what} is not in Bosun's database; it may have been deleted";
    EntryUnreadable { entry: u32, detail: String } = "entry {entry} of the session cannot be read: {detail}; the session was left as it is. Restore the data folder from a backup to read it again";
    DatabaseFailed { detail: String } = "Bosun's database could not be used: {detail}; check that the data folder is writable, then restart Bosun";
    ContentMissing { hash: String } = "the stored content {hash} is missing; restore Bosun's data folder from a backup";
    ContentDamaged { hash: String, detail: String } = "the stored content {hash} is damaged ({detail}); restore Bosun's data folder from a backup";
    ContentDiskFull = "the disk is full, so content could not be stored; free some space and try again";
    ContentUnusable { path: String, detail: String } = "the content store at {path} cannot be used: {detail}; check that this folder can be read and written, then try again";
    NothingKept = "nothing is stored in this run, so nothing can be restored; run Bosun without --no-store";
    NothingAttachable = "nothing is stored in this run, so nothing can be attached; run Bosun without --no-store";
    NotRecorded { why: Box<Problem> } = "{why}. No unrecorded action was carried out";

    // Calls that would fail.
    NotReadYet { path: String } = "the agent has not read '{path}' yet; it will be told to read it first";
    TextNotFound { path: String } = "the text to replace is not in '{path}'; the agent will be told to read it again";
    TextNotUnique { path: String, count: u32 } = "the text to replace occurs {count} times in '{path}'; the agent will be told to include more of the surrounding text";
    TextEmpty { path: String } = "the agent did not say which text to replace in '{path}'; it will be told to give the exact text";
    NothingToChange { path: String } = "this edit would not change '{path}'; the agent will be told to give the new text";
    NoShell = "commands cannot be run here; the agent will be told to work without them";
    CommandEmpty = "the command is empty; the agent will be told to give one";
    CommandNul = "the command contains a NUL byte, which no command line allows; the agent will be told to leave it out";
    CommandTooLong { bytes: u32, most: u32 } = "the command has {bytes} bytes, over the limit of {most}; the agent will be told to put it into a file";
    BadTimeout { given: String, most: u32 } = "a timeout of {given} s is not possible; use 1 to {most}";

    // Project folders.
    ProjectMissing { path: String } = "the folder {path} does not exist; choose another, or create it first";
    ProjectIsFile { path: String } = "{path} is a file, not a folder; choose the folder it is in";
    ProjectUnreadable { path: String } = "you have no permission to read the folder {path}; ask its owner for access, or choose another";
    ProjectIsHome { path: String } = "{path} is your home folder, with your keys and settings in it; choose or create a folder inside it";
    ProjectAboveHome { path: String } = "{path} contains your home folder, with your keys and settings in it; choose or create a folder inside your home";
    ProjectHoldsData { path: String, data: String } = "{path} contains Bosun's own data ({data}), which no agent may change; choose a folder with one project in it";
    ProjectInData { path: String, data: String } = "{path} is in Bosun's own data folder {data}, which no agent may change; choose a folder elsewhere";
    ProjectIsMachine { path: String } = "{path} is the whole machine; choose a folder with one project in it";
    ProjectUnusable { path: String, detail: String } = "the folder {path} cannot be used: {detail}; choose another";
    ProjectGone = "the project folder is gone or was replaced; nothing was changed. Bring it back or open another folder";
    ProjectStillThere { path: String } = "the folder of this project is still at '{path}', so it has not moved; open the other folder as a project of its own, or first rename or remove what is there now";
    ProjectTaken { path: String, name: String } = "{path} is already the folder of the project '{name}', which has sessions or memories of its own, so nothing was moved; open '{name}' and go on there, delete them there (they can be brought back after the move), or choose another folder";
    ProjectAtWork { session: String } = "an agent is at work in this project, in '{session}', so its folder was not changed; stop it there, then choose the folder again";
    ProjectOpenElsewhere { session: String } = "the session '{session}' of this project is open in another Bosun, so its folder was not changed; close it there, then choose the folder again";
    SandboxMissing { program: String, remedy: String } = "{program} is not installed on this machine; install it with {remedy}";
    SandboxUnusable { detail: String } = "bubblewrap is installed but cannot be used: {detail}; let programs create user namespaces: on Ubuntu with an AppArmor profile for bwrap that contains `userns,` (or `sysctl kernel.apparmor_restrict_unprivileged_userns=0`), on Debian with `sysctl kernel.unprivileged_userns_clone=1`, in a container through the settings of its engine";
    SandboxElsewhere = "commands cannot run in a sandbox on this system: the sandbox needs Linux with bubblewrap";
    EngineUnusable { program: String, detail: String } = "{program} is installed but cannot be used: {detail}; check whether `{program} info` works in a terminal, and start its service if it does not";
    HostBadName { given: String } = "'{given}' cannot be the name of a host: it must not contain spaces or start with a dash; use another name";
    ContainerBadName { given: String } = "'{given}' cannot be the name of a container or image: it must not contain spaces or start with a dash; use another name";
    ContainerComma { given: String } = "'{given}' cannot be the name of a folder for a container: its path must not contain a comma; use another name";
    ContainerNone { name: String, program: String, detail: String } = "no container could be started from '{name}': {program} says: {detail}; name a running container, an image that is on this machine, or one with its registry in the name";
    ContainerTakesNone { name: String, program: String } = "the container '{name}' already exists, and no folder can be mounted into it any more; leave out the folder to work on what is in the container, copy the folder there with `{program} cp`, or name an image";
    ProjectUnknown = "Bosun no longer knows this project; open its folder again";
    SampleTooMany { most: u32 } = "there are {most} sample projects already; delete one of them, or choose another folder";
    SampleNotPlaced { folder: String, detail: String } = "the sample project could not be created in {folder}: {detail}. Choose another folder";

    // Files.
    PathLeaves { path: String } = "the path '{path}' leaves its root with '..'; use a path from /, without '..'";
    PathOfHome { path: String } = "the path '{path}' starts at a home folder; use a path from /, where / is the project";
    PathOfWindows { path: String } = "'{path}' is a Windows path; use a path from /, where / is the project, with forward slashes";
    PathOfDevice { path: String } = "the path '{path}' names a Windows device, not a file; use another name";
    PathWithNul { path: String } = "the path '{path}' contains a NUL byte, which no file name can; use a name without it";
    PathTooLong { path: String, limit: u32 } = "the path '{path}' is longer than {limit} bytes; use a shorter name";
    NoPath = "this is not a path: it is empty, too long or contains a NUL byte; give one that starts with /";
    NameMissing = "the file needs a name; enter one";
    FileNotFound { path: String } = "there is no file '{path}'; look in the folder it should be in";
    FolderNotFound { path: String } = "there is no folder '{path}'; look in the folder above it";
    NotAFolder { path: String } = "'{path}' is not a folder; choose the folder that the file is in";
    IsAFolder { path: String } = "'{path}' is a folder, not a file; choose a file in it";
    NameTaken { path: String } = "'{path}' already exists; choose another name";
    NotRegular { path: String } = "'{path}' is not a regular file, so it is not opened; use a regular file instead";
    OutsideRoot { path: String } = "'{path}' leads outside its root through a link or a mount, so it is not touched; use a path that stays inside, or copy its target there";
    LinkLoop { path: String } = "'{path}' cannot be followed: its links form a loop or are nested too deeply; use the path of its target, or delete the link";
    LinkToProtected { path: String } = "'{path}' leads through a link to a protected name, so it is not touched; use the path that it leads to";
    Forbidden { path: String } = "permission denied for '{path}': the file permissions on the disk do not allow it; use another path, or change them";
    ForbiddenByRule { path: String } = "permission denied for '{path}': a rule of this agent forbids it; go on without it, or have the rule changed where the agent is declared";
    FileChanged { path: String } = "'{path}' has changed since it was last read; look at it again";
    FileUnstable { path: String } = "'{path}' kept changing while it was read; try again when the program writing it has finished";
    FileTooLarge { path: String, size: String, limit: String } = "'{path}' would be {size} bytes, over the limit of {limit} for one file of what is remembered; put it into a project instead, or keep only the parts of it that matter";
    FileOverLimit { path: String, size: String, limit: String } = "'{path}' is {size} bytes, over the limit of {limit}; work with smaller parts of it";
    NotText { path: String } = "'{path}' is not text; convert it to UTF-8, or use a program made for it";
    Binary { path: String } = "'{path}' is binary, and text edits do not apply to it; use a program made for its format";
    ContentLost { path: String } = "the content of '{path}' was kept in Bosun's data folder and is no longer there; delete the file, write it again, or restore that folder from a backup";
    FileDiskFull { path: String } = "the disk is full; '{path}' was not changed. Free some space and try again";
    FileReadOnly { path: String } = "'{path}' is read-only here; write to another place, or make this one writable";
    FileImmutable { path: String } = "'{path}' was left as it is: it, or the folder it is in, is marked immutable or append-only. Check with lsattr and remove the mark with chattr";
    CannotDelete { path: String } = "nothing can be deleted where '{path}' is kept; leave it there, or change what is in it";
    RootProtected { path: String } = "'{path}' cannot be deleted: the root '/' and mounts stay; delete what is in it";
    FolderGone { path: String } = "the folder behind '{path}' is gone or was replaced, so nothing was changed; bring it back, or go on without it";
    PlaceSilent { path: String, detail: String } = "the place where '{path}' is kept does not answer: {detail}; try again once it does, or go on without it";
    FileUnsure { path: String, detail: String } = "'{path}' may be changed or not: {detail}; look at it before changing it again";
    FileFailed { path: String, detail: String } = "'{path}' cannot be used: {detail}; check that the place it is kept in can be read and written, then try again";
    FilesFailed { detail: String } = "the files cannot be used: {detail}; check that the place they are kept in can be read and written, then try again";
    Gone { path: String } = "'{path}' no longer exists; look in the folder it was in";
    EditedMeanwhile { path: String } = "'{path}' was changed while you edited it; open it again to see what is there now";
    KeptByBosun { path: String } = "'{path}' is kept by Bosun, not on this machine's disk; look at it here";
    TooLargeToCopy { name: String, megabytes: u32 } = "{name} is larger than {megabytes} MB, too large to be copied; save it as a file instead";
    MayBeProgram { name: String } = "{name} may be a program that the system would start; show it in its folder, or, if it is text, choose an editor in Settings, Appearance";
    EditorUnusable = "this cannot be the command of an editor; begin with a program, by its name alone or from / on, and close every quotation mark";
    EditorFailed { name: String, detail: String } = "{name} could not be opened in your editor: {detail}; look at the command in Settings, Appearance";
    NoProgramFor { name: String, detail: String } = "the system could not open {name}: {detail}; show it in its folder and open it from there";
    NoFileManager { path: String, detail: String } = "the system could not show {path} in its file manager: {detail}; open the folder yourself";
    TooManyOfAName { name: String } = "there are too many files called '{name}' in this folder; rename or delete some of them";
    NotWatched { detail: String } = "changes in these folders will not be noticed: {detail}; refresh the folders to see them";

    // Changes and undoing them.
    NotChanged { path: String } = "this session has not changed '{path}', so there is nothing to show or undo";
    AsBefore { path: String } = "'{path}' is the same as before, so there is nothing to undo";
    LeftAsItIs { why: Box<Problem> } = "{why}; it was left as it is";
    CannotPutBack { path: String, why: Box<Problem> } = "'{path}' cannot be put back: {why}";
    ChangedSince { path: String } = "'{path}' has been changed since then in the same places, by you or by another program, so it stays as it is; restore the agent's version first, or edit the file yourself";
    ChangedBetween { path: String } = "you or another program changed '{path}' between the agent's changes and in the same places, so they cannot be told apart and it stays as it is; undo single places of it, or edit the file yourself";
    EarlierOpen { path: String } = "'{path}' has earlier changes in the same places that are still open, so what is shown here cannot be kept alone; show the changes of the whole session and keep the file there";
    BytesNotKept { path: String } = "'{path}' was changed by a command and its earlier content was not kept, so it stays as it is; edit it yourself, or restore it from a copy of your own";
    OthersPutBack { why: Box<Problem> } = "{why}; the other files were put back";
    NothingTakenBack { why: Problems } = "nothing was undone: {why}";
    NoRewind = "there is no rewind to undo, or the session has gone on since; look at the timeline";
    PlaceGone = "this point of the session no longer exists; look at the timeline";
    NothingSaid = "nothing has been said in this session yet; send a message first";
    UndoGone = "this undo can no longer be reversed; look at the timeline";
    UndoNotLast = "the files have been changed or put back again since; restore what was undone last first";
    NoImage { path: String } = "'{path}' is not an image that can be shown here; open it in another program";
    ChangedMeanwhile = "the file has changed in the meantime; look at its current content";

    // Sessions and turns.
    NothingThere = "there is nothing with this id; it may have been deleted";
    NoSuchRow = "there is no row with this id; open the session again";
    NoSuchRequest = "there is no request with this id; it may have been answered already";
    SessionGone = "this session no longer exists; choose another, or start a new one";
    SessionElsewhere = "this session is open in another Bosun; close it there first";
    TooManySessions = "too many sessions are shown at once; close some of them";
    TurnRunning = "a turn is running in this session; stop it first";
    TurnFinished = "the last turn is finished; send a message to continue";
    NothingToContinue = "there is nothing to continue; send a message first";
    EmptyMessage = "this message is empty; write something to send";
    NotQueued = "this message is no longer queued; its turn may have started";
    EmptyTitle = "a title cannot be empty; enter some text";
    ForkUnreadable = "the new session was created but cannot be read; look for it in the list";
    SubagentIdle = "this subagent is not running; it may just have finished";
    PlanOfSubagent = "a subagent manages its own plan; tell the agent that started it what should change";
    PlanLineGone = "this to-do is no longer in the plan, because the agent has changed it; look at the plan again";
    PlanLineEmpty = "a to-do cannot be empty; enter some text";
    PlanFull { most: u32 } = "a plan can have at most {most} to-dos; remove one first";
    SummaryEmpty = "a summary cannot be empty; undo the summary to send the whole conversation again";
    NothingSummedUp = "nothing of this conversation has been summarised; the model reads all of it";
    SummaryOfSubagent = "a subagent's conversation is summarised automatically as it grows; choose the session that started it";
    SummaryUnderWay = "a summary of this conversation is being written; wait until it is finished, or stop it";
    NothingToCompact = "there is nothing to summarise yet; the latest messages are kept as they are";
    CompactWhileRunning = "a turn is running; wait until it ends, or stop it, then summarise the conversation";
    NoSummary = "the model gave no summary, so nothing was removed; try again, or choose another model";
    SummaryTooLong = "the summary was longer than the text it would have replaced, so nothing was removed; try again, or choose another model";
    SummaryFailed { why: Box<Problem> } = "the summary could not be written ({why}), so nothing was removed; try again, or choose another model";
    SummaryNotSaved { why: Box<Problem> } = "the summary could not be saved: {why}";
    Stopped = "stopped";
    TextTooLong { megabytes: u32 } = "this text is longer than {megabytes} MB; put it into a file in the project instead";
    NameTooLong = "this name is too long; use a shorter one";
    PatternTooLong = "this pattern is too long; use a shorter one";
    PageNotTold { detail: String } = "the window could not be updated: {detail}; restart Bosun";

    // What goes along with a message.
    BytesIncomplete = "the file did not arrive complete; attach it again";
    AttachmentUnknown = "this session has no attachment with this name; attach it again";
    AttachmentLost { name: String } = "'{name}' is no longer stored; attach it again";
    TooManyAlong { attachments: u32, mentions: u32 } = "a message takes at most {attachments} attachments and {mentions} mentions; send some with the next one";
    TooMuchAlong { megabytes: u32 } = "the attachments and mentions of this message exceed {megabytes} MB in all; send some of them with the next one";
    SendInParts = "this message comes with too many attachments and mentions; send it in parts";
    BeyondModels = "this file is larger than models accept; put it into the project folder and name it in your message";
    AttachmentEmpty { name: String } = "'{name}' is empty, so there is nothing to look at; attach another file";
    ImageTooLarge { name: String, size: u32, limit: u32 } = "'{name}' has {size} bytes, over the limit of {limit} for an image; make it smaller";
    DocumentTooLarge { name: String, size: u32, limit: u32 } = "'{name}' has {size} bytes, over the limit of {limit} for a PDF; attach only the pages that matter";
    AttachedTextTooLarge { name: String, size: u32, limit: u32 } = "'{name}' has {size} bytes, over the limit of {limit} for a text; put it into the project folder and name it in your message, and the agent reads it in parts";
    PictureBursts { name: String } = "'{name}' would unpack to far more pixels than its size suggests; save it again as an ordinary image";
    TooManyPixels { name: String, width: u32, height: u32, most: u32 } = "'{name}' has {width} by {height} pixels, but models accept at most {most} per side; make it smaller";
    NotAttachable { name: String } = "'{name}' is neither text nor a complete PNG, JPEG, GIF, WebP or PDF file; put it into the project folder and name it in your message";
    MentionGone { path: String } = "'{path}' no longer exists; remove it from the message or mention something else";

    // Approvals and rules.
    NotPending { call: String } = "no call '{call}' is waiting for a decision; it has been decided already, or its turn was stopped";
    AskChanged = "this request has changed since it was shown; look at it again";
    AskAltered = "what is stored of this request is not what was shown; nothing ran, and it is asked for again";
    DecisionNotAllowed { given: String, tool: String, allowed: String } = "'{given}' is not allowed for {tool}; allowed: {allowed}";
    BadArguments { detail: String } = "the arguments do not fit the tool: {detail}; correct them";
    EmptyResponse = "an answer in place of the tool's result cannot be empty; enter some text";
    AnsweredTwice { call: String } = "the call '{call}' is answered twice here; answer it once";
    ModelName = "a model needs a provider and a name of at most 256 characters each";
    TooManyDecisions = "answer 1 to 1,000 requests at once";
    TooManyNewRules = "create 1 to 1,000 rules at once";
    NotApproved = "nothing was approved: it was not confirmed in the system's own dialog; approve it again and confirm it there";
    NotKept = "nothing was saved: it was not confirmed in the system's own dialog; save it again and confirm it there";
    NotWaiting = "this call is no longer waiting for an answer; look at its row in the session";
    RuleGone = "this rule no longer exists; look at the list of rules again";
    RuleNotApproved = "a rule can only be created when its call is approved unchanged; approve the call as it is";
    RulePattern { pattern: String } = "the pattern '{pattern}' cannot be used for a rule; write another one";
    TooManyRules { most: u32 } = "there are {most} rules already; delete some in Settings, Permissions";

    // Memories, skills, subagents, what a project brings.
    VersionGone = "this version is no longer kept; choose another one";
    VersionUnreadable = "this version can no longer be read; choose another one";
    MemoryWithoutProject = "a project memory needs a project; choose one";
    SkillGone = "this skill, or this file in it, no longer exists; look at the list of skills again";
    SkillFolder = "a skill's folder is a single name, not a path; use a name without slashes";
    SkillName { name: String, most: u32 } = "'{name}' cannot be the name of a skill: use lower-case letters, digits and single hyphens, at most {most}";
    SkillTaken { name: String } = "a skill called '{name}' already exists; choose another name";
    SkillPurpose = "say what the skill is for: the model decides by this description when to use it";
    NoSkill { why: Box<Problem> } = "this is not a valid skill: {why}";
    SkillFileNeeded = "a skill cannot do without its SKILL.md; delete the skill instead";
    NoSkillInIt = "it contains no SKILL.md; choose a folder that has one";
    SkillFileUnusable { path: String, why: Box<Problem> } = "'{path}': {why}";
    SkillTooLarge { files: u32, megabytes: u32 } = "it has more than {files} files or {megabytes} MB, too much for a skill; leave some files out";
    SkillNameLetters = "the name may only contain lower-case letters, digits and single hyphens between them";
    SkillNameLong { most: u32 } = "the name is longer than {most} characters";
    SkillNameOther { folder: String } = "the name does not match that of its folder, '{folder}'";
    DescriptionCut { most: u32 } = "the description was cut at {most} characters";
    CompatibilityCut { most: u32 } = "the compatibility was cut at {most} characters";
    BroughtTooLarge { path: String, megabytes: u32 } = "{path} is larger than {megabytes} MB, so it is not used; make it smaller";
    FrontMatterMissing = "it does not start with front matter: a line of three dashes, then its fields";
    FrontMatterOpen = "the front matter does not end with a line of three dashes";
    FrontMatterLong { most: u32 } = "the front matter is longer than {most} bytes";
    FrontMatterYaml { detail: String } = "the front matter is not valid YAML: {detail}";
    FrontMatterByLine { detail: String } = "the front matter is not valid YAML ({detail}); its lines were read one by one";
    FieldMissing { field: String } = "the front matter has no '{field}'";
    FieldNotText { field: String } = "'{field}' must be text";
    FieldNotNames { field: String } = "'{field}' must be a list of names";
    FieldNotAsks { field: String } = "'{field}' must be a list of names, or say for each name whether it asks (true, false) or how (allowed, description, timeout_seconds)";
    FieldNotFolders { field: String } = "'{field}' must be a list of folders";
    FieldNotSchema { field: String } = "'{field}' must be a JSON schema of an object";
    FieldNotNumber { field: String } = "'{field}' must be a whole number above 0";
    FieldNotModel { field: String } = "'{field}' must be PROVIDER:NAME, for example anthropic:claude-sonnet-4-6, or inherit";
    FieldNotEffort { field: String } = "'{field}' must be one of off, low, medium, high and max";
    FieldNotRules { field: String } = "'{field}' must be a list of rules, each with 'operations' (read, write), 'paths' from / and a 'mode' (allow, interrupt, deny)";
    RulePathNotFromRoot { path: String } = "the path '{path}' of a rule must start with /";
    RulePathUp { path: String } = "the path '{path}' of a rule must not contain '..'";
    RulePathOfHome { path: String } = "the path '{path}' of a rule starts at a home folder; start it with /";
    RulePathBraces { path: String, most: u32 } = "the braces of '{path}' expand to more than {most} paths; write several rules";
    FieldUnknown { field: String } = "'{field}' is not known and has no effect";
    SubagentGone = "this subagent no longer exists; look at the list of subagents again";
    SubagentName = "a subagent needs a name of letters, digits and hyphens";
    SubagentBadName { name: String } = "'{name}' cannot be the name of a subagent: use lower-case letters, digits and single hyphens, at most 64";
    NoSubagent { why: Box<Problem> } = "this is not a valid subagent: {why}";
    SubagentTwoNames { declared: String, called: String } = "the file declares '{declared}', but is called '{called}'; use the same name for both";
    SubagentStays = "the general-purpose subagent cannot be switched off; declare one with the same name to replace it";
    SubagentTwice { name: String } = "two subagents are called '{name}'; rename one of them";
    SubagentModel { name: String } = "the subagent's model '{name}' is not set up; set it up, or remove the model from the subagent";
    SubagentModelElsewhere { name: String } = "the subagent's model '{name}' does not run on this machine, but that of the agent starting it does, so nothing is sent to it; remove the model from the subagent, or choose a model for the session that does not run here either";
    ToolUnknown { name: String, known: String } = "there is no tool '{name}' here; available are: {known}";
    NoDecision { tool: String } = "'{tool}' asks for approval, but no decision is allowed; allow at least one";
    NotBrought { path: String } = "'{path}' no longer exists, or is no longer used; look at the list again";
    SeenAnother { path: String } = "'{path}' changed while you looked at it; look at it again";
    LinkTooLong = "this link is not opened: its address is too long";
    LinkWithBlanks = "this link is not opened: its address contains spaces or control characters";
    LinkUnreadable = "this link is not opened: its address cannot be read";
    LinkWithoutHost = "this link is not opened: it names no host";
    LinkWithUser = "this link is not opened: it carries a user name, which hides the real host";
    LinkScheme { scheme: String } = "this link is not opened: only web and mail addresses are, not {scheme}:";
    DialogOpen = "a dialog is open already; answer it first";
    ArchiveTooLarge { megabytes: u32 } = "this archive is larger than {megabytes} MB; import less at once";
    RouteAtRoot = "a route cannot be at '/', which belongs to the default backend; give it a folder of its own, such as /memories";
    PlaceAtRoot = "only another machine or a container can be at '/', and it cannot be read_only; give this a folder of its own, such as /memories";
    RouteTwice { prefix: String } = "two routes are at '{prefix}'; give each a folder of its own";
    DeclaredRoute { prefix: String, why: Box<Problem> } = "what is set up at '{prefix}' cannot be opened: {why}";
    RouteNoNamespace { prefix: String } = "the store at '{prefix}' needs a 'namespace', under which its files are kept";
    RouteNoFolder { prefix: String } = "the folder at '{prefix}' needs its 'folder', an absolute path on this machine";
    RoutePartOfPath { prefix: String, folder: String } = "the 'folder' of '{prefix}' must be an absolute path on this machine, not \"{folder}\"";
    RouteNoHost { prefix: String } = "the other machine at '{prefix}' needs its 'host', as in `ssh HOST`";
    RouteNoContainer { prefix: String } = "the container at '{prefix}' needs its 'container', the name of a running one or of an image";
    RouteMisplaced { prefix: String, field: String, with: String } = "'{field}' at '{prefix}' is for the kind {with} only; leave it out";
    RoutesOfProject = "only you can set up more folders beside the project, not the project itself; remove its [[routes]]";
    LimitsOfProject = "only you can set the limits of a turn, not the project itself; remove its [limits] and [guards]";
    DeclarationUnused { path: String, detail: String } = "{path} is not used: {detail}";
    NoNamespace { given: String } = "'{given}' is not a namespace: use non-empty names of letters, digits and - _ . @ + : ~";
    BadSearch { given: String, detail: String } = "the search text '{given}' cannot be used: {detail}";
    ToolTwice { name: String } = "two tools are called '{name}'; rename or remove one of them";
    StateFieldTwice { name: String } = "the state field '{name}' is declared twice in different ways; rename or remove one of them";
    AdditionsTooLong = "this is longer than 256 KB; servers, hooks and folders are a few lines each";
    AdditionsUnreadable { detail: String } = "this cannot be used: {detail}";
    ServerName { name: String, why: Box<Problem> } = "'{name}' cannot be the name of a server: {why}";
    ServerTwice { name: String } = "two servers are called '{name}'; rename one of them";
    ServerNoReach { server: String } = "the server '{server}' needs either a command or a url; give one of them";
    ServerTwoReaches { server: String } = "the server '{server}' has both a command and a url; leave one out";
    ServerMisplaced { server: String, field: String, with: String } = "'{field}' of the server '{server}' is for servers with a {with}; leave it out";
    ServerUrl { server: String, why: Box<Problem> } = "the url of the server '{server}' cannot be used: {why}";
    ServerValue { server: String, field: String, given: String, why: Box<Problem> } = "'{field}' of the server '{server}' cannot be \"{given}\": {why}";
    ServerSeconds { server: String, field: String, given: String, most: u32 } = "'{field}' of the server '{server}' is {given} seconds; use 1 to {most}";
    ServerNameLetters = "a name starts with a letter or digit and contains only letters, digits, - and single _";
    ServerNameLong { most: u32 } = "a name has at most {most} characters";
    NoProgram = "name a program";
    NulInArgument = "it contains a NUL byte, which no program accepts";
    NoVariable = "this is not the name of a variable";
    NoHeader = "this is not the name of a header";
    NoAddress = "it is not a valid address";
    SecretInAddress = "put credentials into headers, not into the address";
    AddressNotSafe = "to another machine, only https is safe";
    AddressScheme = "it starts with neither https: nor http:";
    SignInUnknown { server: String } = "there is no tool server called '{server}' here; check its name where servers are declared";
    SignInNoAddress { server: String } = "'{server}' is a program on this machine, which needs no sign-in";
    SignInUnsupported { detail: String } = "the server does not say how to sign in: {detail}; give it a token as a header instead";
    SignInUnsafe { url: String } = "the server asked to open a page that does not use https ({url}), so it was not opened; give the server a token as a header instead";
    SignInNoPort { detail: String } = "no local port could be opened for the reply of the sign-in: {detail}; try again, or give the server a token as a header";
    SignInRefused { detail: String } = "the sign-in was refused: {detail}; sign in again, or give the server a token as a header";
    SignInTooLate { minutes: u32 } = "nobody signed in within {minutes} minutes; sign in again when you are ready";
    SignInNotKept { detail: String } = "the tokens could not be saved: {detail}; unlock the keyring and sign in again";
    SignInNotForgotten { detail: String } = "you are still signed in: {detail}; unlock the keyring and sign out again";
    SignInGivenUp = "this sign-in was cancelled; sign in again";
    ServerNotStarted { detail: String } = "could not be started: {detail}";
    ServerEndedAtStart { why: Box<Problem> } = "could not be started: {why}";
    ServerSilentAtStart { seconds: String } = "did not answer within {seconds} seconds of starting";
    ServerSilent { seconds: String } = "did not answer within {seconds} seconds, so Bosun stopped waiting; the call may still be running";
    ServerRefused { detail: String } = "refused: {detail}";
    ServerUntrusted = "is of the project and is not what you trusted as this session began; review what the project brings, or start a new session";
    ServerWithdrawn = "was removed from the settings or changed there since this session began; start a new session to use it as it is there now";
    ServerHeaderMissing { header: String } = "the value of its header '{header}' is not in the keyring; enter it again";
    VariableMissing { variable: String } = "the value of its variable '{variable}' is not in the keyring; enter it again";
    ServerWantsSignIn = "needs someone to sign in first";
    ServerSessionEnded = "was ended with its session";
    ServerEnded = "ended";
    ServerEndedWith { code: i32 } = "ended with code {code}";
    ServerEndedBy { signal: i32 } = "was ended by signal {signal}";
    ServerLastSaid { why: Box<Problem>, detail: String } = "{why}; it last said: {detail}";
    ServerPipes = "closed its pipes and was ended";
    ServerMessageTooLarge { megabytes: u32 } = "sent a message of more than {megabytes} MB and was ended";
    ServerTooMuch { megabytes: u32 } = "wrote more than {megabytes} MB without an answer and was ended";
    ServerUnreachable { detail: String } = "could not be reached: {detail}";
    ServerToolTwice { tool: String } = "{tool}: two tools have this name";
    ServerToolUnusable { tool: String, why: Box<Problem> } = "{tool}: {why}";
    ServerTools { more: u32, most: u32 } = "{more} more: a server may have at most {most} tools";
    ServerToolName { bytes: u32 } = "its name is {bytes} bytes long, more than models accept";
    ServerToolLong { bytes: u32, most: u32 } = "its arguments take {bytes} bytes to describe, over the limit of {most}";
    ServerToolArgument { name: String } = "its argument '{name}' has a name that models cannot use";
    ServerToolDeep { most: u32 } = "the description of its arguments is nested or repeated beyond {most} parts";
    ServerToolNoObject { detail: String } = "its arguments are not an object but {detail}";
    HookName { given: String, most: u32 } = "a hook needs a name of 1 to {most} letters, digits, spaces, - and _, not \"{given}\"";
    HookTwice { name: String } = "two hooks are called '{name}'; rename one of them";
    HookNoCommand { hook: String } = "the hook '{hook}' needs a command: the program to run";
    HookValue { hook: String, field: String } = "'{field}' of the hook '{hook}' contains a NUL byte or is not a variable";
    HookTimeout { hook: String, given: String, most: u32 } = "the timeout of the hook '{hook}' is {given} seconds; use 1 to {most}";
    HookTools { hook: String, point: String } = "the hook '{hook}' lists tools, which only before_tool and after_tool accept; remove them at {point}";
    HookFailure { hook: String, wanted: String, point: String } = "the hook '{hook}' cannot {wanted} at {point}; use go_on there";
    ToolChangedAgain = "this tool has changed again or is gone; look at it again";
    NothingToWrite = "there is nothing to export; choose at least one item";
    ImportOutside { name: String } = "'{name}' leads outside the folder or archive it is in, so nothing was imported; leave it out";
    ImportLink { name: String } = "'{name}' is a link, so nothing was imported; import the file it leads to instead";
    ImportNotRegular { name: String } = "'{name}' is not a regular file, so nothing was imported; leave it out";
    ImportFileTooLarge { name: String, megabytes: u32 } = "'{name}' is larger than {megabytes} MB; leave it out";
    ImportTooMuch { files: u32, megabytes: u32 } = "it contains more than {files} files or {megabytes} MB; import less at once";
    ImportTwice { name: String } = "'{name}' is in there twice; leave one of them out";
    ImportNoArchive { path: String, detail: String } = "{path} is neither a folder nor a zip archive that can be read: {detail}";
    ImportUnusable { path: String, detail: String } = "{path} cannot be used: {detail}";

    // Models and providers.
    NoModelChosen = "no model is chosen for this session; choose one in its title bar";
    ProviderUnknown { id: String } = "there is no provider \"{id}\"; choose one in Settings, Models";
    ProviderGone { id: String } = "the provider \"{id}\" is no longer set up; choose another model";
    ProviderLabel = "a provider needs a name of 1 to 80 characters";
    BaseUrlTooLong = "the base URL is too long; it should look like https://models.example/v1";
    TourBuiltIn = "the tour is built in and cannot be added";
    FamilyFixed = "the kind of a built-in provider cannot be changed; add a new provider instead";
    NoKey = "this is not a key: it is too long, or contains spaces or line breaks; enter it again";
    KeyMissing { provider: String } = "{provider} needs a key; enter it in the settings";
    KeyLocked { provider: String, why: Box<Problem> } = "the key of {provider} is stored but could not be read: {why}";
    ProviderNone { id: String, known: String } = "there is no provider \"{id}\"; available are {known}, and those set up in Bosun's settings";
    KeyNowhere { provider: String, variable: String, page: String } = "{provider} needs a key, and neither the variable {variable} nor the keyring has one; set {variable}, or enter the key in Bosun's settings. You can create one at {page}";
    KeyringLocked { provider: String, why: Box<Problem> } = "the keyring has the key of {provider} but did not release it ({why})";
    KeyringLockedOr { provider: String, why: Box<Problem>, variables: String } = "the keyring has the key of {provider} but did not release it ({why}); or set {variables}";
    KeyringMissing { detail: String } = "no keyring responds on this system ({detail}); unlock or install one (for example gnome-keyring) to keep keys";
    KeyringIsLocked = "the keyring is locked; unlock it and try again";
    KeyringSlow { seconds: String } = "the keyring did not answer within {seconds} seconds; answer its prompt or unlock it, then try again";
    KeyringOther = "the keyring returned a different key from the one it was given; enter the key again, or check the keyring";
    KeyringRefused { detail: String } = "the keyring did not accept the key: {detail}; unlock it and enter the key again";
    KeyringUnremoved { detail: String } = "the keyring did not remove the entry: {detail}; unlock it and try again, or remove the entry there";
    KeyStays { why: Box<Problem> } = "the key is still in the keyring: {why}";
    KeyLeft { why: Box<Problem> } = "Bosun no longer uses its key, but could not remove it from the keyring ({why}); remove it there";
    NotLocal = "this is not one of the addresses where Bosun looks for servers; add the server by its base URL";
    TooManyModels = "there are too many models in these settings; remove some";
    ModelUnnamed = "a model needs its provider and its name";
    ModelWithoutTokens { model: String } = "{model}: the context window and the output must be more than 0 tokens";
    ModelPrice { model: String } = "{model}: a price must be a number of US dollars, 0 or more";
    BudgetNumber = "a budget must be a number of US dollars above 0; leave it empty for none";
    WaitNumber = "a wait must be between one second and one day; leave it empty for the default";
    SettingsUnreadable { detail: String } = "these settings cannot be used: {detail}";

    // Model calls.
    KeyRefused { host: String, status: u16 } = "{host} refused the key (status {status}); enter another";
    NothingAtAddress { host: String, status: u16, address: String } = "{host} has nothing at this address (status {status}): asked at {address}; check the base URL and the model";
    NothingWithoutVersion { host: String, status: u16, address: String } = "{host} has nothing at this address (status {status}): {address} does not end in /v1, which most servers need; check the base URL and the model";
    FewerRequests { host: String, status: u16 } = "{host} asks for fewer requests (status {status}); wait a little, then try again";
    PayFirst { host: String, status: u16 } = "{host} asks for payment first (status {status}); add credit there, or choose another model";
    Overloaded { host: String, status: u16 } = "{host} failed or is overloaded (status {status}); try again later";
    RefusedSilently { host: String, status: u16 } = "{host} refused the request (status {status}) without saying why; choose another model, or check the provider's settings";
    AddressWrong { detail: String, address: String } = "{detail} (asked at {address}; check the base URL)";
    AddressWithoutVersion { detail: String, address: String } = "{detail} ({address} does not end in /v1, which most servers need)";
    WithoutTools { detail: String } = "{detail} (an agent works with tools: choose a model that takes them)";
    ErrorWithoutWords { host: String } = "{host} reported an error without explaining it; try again, or choose another model";
    OtherJson { address: String } = "{address} answered with JSON that is not a model's reply instead of a stream of events; check the base URL, and whether this network wants you to sign in first";
    OtherJsonWithoutVersion { address: String } = "{address} answered with JSON that is not a model's reply instead of a stream of events; the base URL of most servers ends in /v1, and some networks want you to sign in first";
    SomethingElse { address: String } = "{address} answered with something else instead of a stream of events; check the base URL, and whether this network wants you to sign in first";
    SomethingElseWithoutVersion { address: String } = "{address} answered with something else instead of a stream of events; the base URL of most servers ends in /v1, and some networks want you to sign in first";
    WebPage { address: String, title: String } = "{address} answered with a web page{title}, not as a model server; check the base URL, and whether this network wants you to sign in first";
    WebPageWithoutVersion { address: String, title: String } = "{address} answered with a web page{title}, not as a model server; the base URL of most servers ends in /v1, and some networks want you to sign in first";
    CertificateDate { host: String, detail: String } = "the certificate of {host} cannot be trusted ({detail}); check this computer's date and time";
    Certificate { host: String, detail: String } = "the certificate of {host} cannot be trusted ({detail}); something on the network may be intercepting the connection: check the network, or add its certificate in Settings, Models";
    NotSecure { address: String, detail: String } = "no secure connection to {address} could be made ({detail}); check the base URL, and any proxy or firewall in between";
    NotAccepted { address: String } = "{address} did not accept a connection in time; try again, or check the base URL and the network";
    HostUnknown { host: String, detail: String } = "the host {host} cannot be found ({detail}); check the base URL and the network";
    NothingAnswers { address: String, detail: String } = "nothing answers at {address} ({detail}); check that the server is running there";
    ProxyWantsPassword { host: String } = "the proxy on the way to {host} requires a name and a password; enter both beside the proxy in Settings, Models, or start Bosun with HTTPS_PROXY set to both (http://NAME:PASSWORD@PROXY:PORT)";
    ProxyRefused { host: String, detail: String } = "the proxy on the way to {host} does not let the request through ({detail}); ask whoever runs it, or check the proxy in Settings, Models";
    ProxyUnreached { host: String, detail: String } = "the proxy on the way to {host} cannot be reached ({detail}); check the proxy in Settings, Models, in HTTPS_PROXY, and in the settings of the desktop";
    ProxyScript { host: String, desktop: String, detail: String } = "{host} cannot be reached without a proxy ({detail}). The settings of {desktop} choose the proxy with a script (PAC), which Bosun does not run: enter the proxy in Settings, Models, or set HTTPS_PROXY";
    BrokeBeforeReply { address: String, detail: String } = "the connection to {address} broke before a reply came ({detail}); try again";
    OnlyPart { host: String, seconds: String } = "{host} sent only part of an answer for {seconds} s, so Bosun stopped waiting; try again, or choose another model";
    NoAnswer { host: String, seconds: String } = "{host} sent no answer for {seconds} s, so Bosun stopped waiting; try again, or choose another model";
    StillSending { host: String, seconds: String } = "{host} was still sending the same reply after {seconds} s, so Bosun stopped waiting; try again, or choose another model";
    SentNothing { host: String, seconds: String } = "{host} sent nothing for {seconds} s, so Bosun stopped waiting; try again, or choose another model";
    SentNothingMore { host: String, seconds: String } = "{host} sent nothing more for {seconds} s, so Bosun stopped waiting; try again, or choose another model";
    Redirected { address: String, to: String } = "{address} redirects requests to {to}. Bosun does not follow redirects, so that a key only goes where it was entered for; if you trust that address, make it the base URL";
    ReplyCut { host: String } = "the reply from {host} broke off before it was complete; try again";
    ReplyBroken { host: String, detail: String } = "the reply from {host} broke off before it was complete ({detail}); try again";
    ReplyUnfinished = "the reply ended before it was complete; try again";
    BadFormat { host: String, detail: String } = "the reply from {host} is not in the expected format: {detail}; try again, or choose another model";
    NetworkUnusable { detail: String } = "this system's network settings cannot be used: {detail}; check the proxy and the certificates in Settings, Models";
    KeyCharacters = "the key contains characters that no key has (perhaps a line break); enter it again";
    HeaderName { name: String } = "the header \"{name}\" has a name that HTTP does not allow; use letters, digits and hyphens";
    HeaderValue { name: String } = "the header \"{name}\" has a value that HTTP does not allow; leave out line breaks and control characters";
    HeaderTooLong { most: u32 } = "the value of a header can have at most {most} bytes; shorten it";
    HeadersFull { most: u32 } = "a provider can have at most {most} headers, and this one has as many; remove one first";
    HeaderReserved { name: String } = "the header \"{name}\" is sent by Bosun itself; leave it out";
    NoModelNamed = "no model was named; choose one";
    BaseUrlScheme { url: String, example: String } = "the base URL \"{url}\" has no http:// or https:// in front; it should look like {example}";
    BaseUrlUnreadable { url: String, detail: String, example: String } = "the base URL \"{url}\" cannot be read ({detail}); it should look like {example}";
    BaseUrlOther { url: String, scheme: String, example: String } = "the base URL \"{url}\" is neither http nor https but {scheme}; it should look like {example}";
    BaseUrlHostless { url: String, example: String } = "the base URL \"{url}\" names no host; it should look like {example}";
    BaseUrlUnnamed { url: String, place: String } = "the base URL \"{url}\" still lacks the name that your account has there; put it in place of {place}";
    BaseUrlSecret = "the base URL contains a user name or password; enter the key in its own field instead";
    BaseUrlQuery { name: String } = "the base URL has \"{name}\" in its query, which would be stored in plain text. Leave it out; enter what the gateway identifies you by as a custom header of the provider, which is kept in the keyring";
    ProxyAddress { address: String } = "the proxy \"{address}\" is not an address; it should look like http://proxy.example:3128";
    ProxyScheme { scheme: String } = "the proxy uses {scheme}, but Bosun supports only http, https and socks5 proxies; enter another";
    ProxySecret = "the proxy address contains a user name or password; enter them in their own fields, so that they are kept in the keyring";
    ProxyLoginWrong = "this cannot be the name and password of a proxy: neither may contain line breaks or exceed 1,024 characters";
    ProxyLoginNowhere = "these settings have no proxy to save a name and a password for; enter its address first";
    ProxyLoginLocked { why: Box<Problem> } = "the keyring has the name and the password of the proxy but did not release them ({why}); unlock it, or enter both again beside the proxy in Settings, Models";
    ProxyUnusable { address: String } = "the proxy \"{address}\" cannot be used; it should look like http://proxy.example:3128";
    CertificatesUnreadable = "the certificates cannot be read as PEM; paste them whole, from BEGIN CERTIFICATE to END CERTIFICATE";
    CertificatesNone = "this text contains no certificate; paste it whole, from BEGIN CERTIFICATE to END CERTIFICATE";
    AwsProfileSso { profile: String } = "the AWS profile {profile} signs in with SSO, for which Bosun needs the AWS CLI; install it and run `aws sso login --profile {profile}`, or enter a Bedrock API key";
    AwsProfileConsole { profile: String } = "the AWS profile {profile} signs in with the console, for which Bosun needs the AWS CLI; install it and run `aws login --profile {profile}`, or enter a Bedrock API key";
    AwsProfileProgram { profile: String, detail: String } = "the program that the AWS profile {profile} names gave no keys: {detail}; run it in a terminal, or enter a Bedrock API key";
    AwsProfileRole { profile: String } = "the AWS profile {profile} assumes a role, for which Bosun needs the AWS CLI; install it, or enter a Bedrock API key";
    AwsCliFailed { profile: String, detail: String } = "the AWS CLI gave no keys for the profile {profile}: {detail}; try `aws sts get-caller-identity --profile {profile}`, or enter a Bedrock API key";
    AwsLoginEnded { profile: String, command: String } = "the sign-in of the AWS profile {profile} has expired, or there was none; run `{command}`, then try again";
    AwsProfileEmpty { profile: String } = "the AWS profile {profile} has no keys; start Bosun with the variables that `aws configure export-credentials --format env` prints, or enter a Bedrock API key";
    AwsNothing { profile: String } = "there are no AWS credentials: no Bedrock API key, no AWS_ACCESS_KEY_ID, and no profile {profile} in ~/.aws; enter a Bedrock API key, or run `aws configure`";
    AwsUnsigned = "the request cannot be signed for AWS; check the base URL";
    GoogleFileUnreadable { path: String } = "GOOGLE_APPLICATION_CREDENTIALS names {path}, which cannot be read; set it to a credentials file";
    GoogleNothing = "there are no Google credentials: no GOOGLE_APPLICATION_CREDENTIALS and no application-default credentials; run `gcloud auth application-default login`";
    GoogleFileForeign { path: String } = "{path} is not a Google credentials file; set GOOGLE_APPLICATION_CREDENTIALS to one";
    GoogleFileKind { path: String, given: String } = "{path} has credentials of the type \"{given}\"; use authorized_user, service_account or impersonated_service_account, which Bosun supports";
    GoogleFileUnusable { path: String, given: String } = "{path} has credentials of the type {given} that cannot be used; create the file again";
    GoogleNoToken { path: String } = "{path} gave no token; run `gcloud auth application-default login` again";
    GoogleUnreached { path: String, detail: String } = "Google gave no token for {path} ({detail}); check the network and try again";
    GoogleRefused { path: String } = "Google does not accept the credentials of {path}; run `gcloud auth application-default login` again";
    VertexNoProject = "Vertex AI needs to know which project to bill: set GOOGLE_CLOUD_PROJECT, or write it into the base URL, as in https://us-east5-aiplatform.googleapis.com/v1/projects/PROJECT/locations/us-east5";
    RequestUnwritable { detail: String } = "the request cannot be written: {detail}; change the message, or start a new session";
    LimitOfSteps { limit: String } = "the turn reached its limit of {limit} model calls, subagents included; everything so far is kept: continue the turn to go on with the same limit again";
    LimitOfTokens { limit: String } = "the turn reached its limit of {limit} tokens, subagents included; everything so far is kept: continue the turn to go on with the same limit again";
    LimitOfDollars { limit: String } = "the turn reached its limit of {limit} US dollars, subagents included; everything so far is kept: continue the turn to go on with the same limit again";
    LimitOfSeconds { limit: String } = "the turn reached its limit of {limit} seconds of work; everything so far is kept: continue the turn to go on with the same limit again";
    SameFailures { tool: String, times: String } = "the model made the same call of {tool} {times} times, and it failed each time, so the turn was ended; say what it should do instead, or continue the turn";
    AnswerNotHandedIn = "the model did not give its answer in the required form, even when made to; what it said instead is kept: try again, or tell it what to do";
    SessionBudget { limit: String, spent: String } = "the budget of ${limit} for this session is used up (${spent} spent); everything so far is kept: raise it in Settings, Models, and continue the turn";
    DayBudget { limit: String, spent: String } = "the budget of ${limit} for today is used up (${spent} spent); everything so far is kept: raise it in Settings, Models, and continue the turn";
    HookRefused { hook: String } = "the hook '{hook}' refused it";
    HookRefusedFor { hook: String, detail: String } = "the hook '{hook}' refused it: {detail}";
    SpendingUnknown { detail: String } = "the amount spent so far cannot be read, so the budget cannot be checked: {detail}; check that the data folder can be read, then continue the turn";
    SessionCost { spent: String, limit: String } = "This session has cost ${spent}; you asked to be told at ${limit}";
    SessionCostStops { spent: String, limit: String, stop: String } = "This session has cost ${spent}; you asked to be told at ${limit}. It stops at ${stop}";
    DayCost { spent: String, limit: String } = "Today has cost ${spent}; you asked to be told at ${limit}";
    DayCostStops { spent: String, limit: String, stop: String } = "Today has cost ${spent}; you asked to be told at ${limit}. It stops at ${stop}";
    AsksAgain { seconds: String, why: Box<Problem> } = "trying again in {seconds} s: {why}";
    BudgetWaits = "another call is under way, and together they may use up the budget: this one is made when that has ended, if enough is left";
    FellBack { from: String, to: String, detail: String } = "{from} is overloaded ({detail}); {to} answers the rest of this turn";
    ThinkingUnseen { model: String, detail: String } = "{model} thinks without showing it: the provider gives no summaries of its thinking ({detail})";
    HookBroke { hook: String, point: String, detail: String } = "The hook '{hook}' {detail}. It runs at {point}";
    KeyInMessage { model: String } = "Your message contains what looks like a key. It goes to {model} and stays in this session; if it is a real one, replace it where you got it";
    KeyInResult { tool: String, model: String } = "A result of {tool} contains what looks like a key. It goes to {model} and stays in this session; if it is a real one, replace it where you got it";
    SkillWrong { detail: String } = "Skills: {detail}";
    SubagentWrong { detail: String } = "Subagents: {detail}";
    SubagentLacks { name: String, tools: String } = "Subagents: '{name}' works without tools that are not available here: {tools}";
    Untrusted { names: String } = "This project brings {names}, which nobody has trusted as it is now, so it is not used; `bosun trust list` shows it";
    BroughtUnusable { name: String, detail: String } = "This project brings {name}, which cannot be used: {detail}";
    MemoryCut { path: String } = "{path} is too long for the prompt, so only its beginning is in it; the agent reads the rest when it needs it";
    AgentLacks { tools: String } = "The agent works without tools of builtin_tools that are not available here: {tools}";
    AskingUnknown { tools: String } = "Approvals: something is set for {tools}, but no tool here is called that, so it has no effect. Correct the name, or add the server whose tool it is";
    SubagentAskingUnknown { name: String, tools: String } = "Subagents: '{name}' sets how {tools} asks, but no tool here is called that, so it has no effect. Correct the name, or add the server whose tool it is";
    HookUnmatched { hook: String, tools: String } = "The hook '{hook}' is for calls of {tools}, but no tool here is called that, so it does not run for them. Correct the name, or add the server whose tool it is";
    SecondMissing { model: String, detail: String } = "{model}, which should answer when the session's model is overloaded, is not available ({detail}). Until then no other model takes over; fix it or choose another in Settings, Models";
    SmallMissing { model: String, detail: String } = "{model}, which should write titles and summaries, is not available ({detail}). The session's own model writes the summaries, and sessions get no titles; fix it or choose another in Settings, Models";
    CostNotCounted { limit: String, model: String } = "A turn may cost ${limit}, but the price of {model} is not known, so its cost is not counted. Enter the price in Settings, Models, or set a limit of tokens";
    BudgetNotCounted { model: String } = "There is a budget, but the price of {model} is not known, so its cost does not count towards it. Enter the price in Settings, Models";
    NotSummedUp { detail: String } = "The conversation is due for a summary, but writing it failed ({detail}), so all of it is sent. Choose another model for summaries in Settings, Models, or summarise the conversation yourself";
    NotSummedUpEmpty = "The conversation is due for a summary, but the model gave none, so all of it is sent. Choose another model for summaries in Settings, Models, or summarise the conversation yourself";
    NotSummedUpLonger = "The conversation is due for a summary, but the summary was longer than the text it would have replaced, so all of it is sent. Choose another model for summaries in Settings, Models, or summarise the conversation yourself";
    SummedUpAgain = "The conversation no longer fits the context window of this model, so the summary you undid was made again. To have all of it sent, choose a model with a larger window, or start a new session";
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
