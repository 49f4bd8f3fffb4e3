"""What is asked of both sides: one list of calls per case, and what may differ on purpose."""

from dataclasses import dataclass, field

#: Every backend of the comparison. `composite` has a state below /memories/ over a disk; `sandbox` is the reference's base
#: of its sandboxes over processes of this machine, and here the local sandbox. `agent` is a whole agent over a disk with a
#: shell: what is compared is the text that its model is sent next.
ALL = ("state", "filesystem", "store", "composite", "sandbox")
DISK = ("filesystem", "composite", "sandbox")
WHOLE = (*ALL, "agent")


@dataclass(frozen=True)
class Case:
    """The last of `calls` is compared; those before it prepare."""

    name: str
    calls: list
    #: What both answers have to hold, where the words around it may differ.
    tokens: tuple = ()
    #: What neither may hold.
    without: tuple = ()
    #: A number of behaviour.md Part A (or a case of security.md) where Bosun differs on purpose, and why in short.
    purpose: str = ""
    #: With a purpose: what Bosun's own answer has to hold, without regard to case. It has to be an error where "Error" is
    #: among them, and a success where it is not.
    own: tuple = ()
    #: With a purpose: what it must not hold.
    own_without: tuple = ()
    backends: tuple = ALL
    #: Bytes on the disk before, by name.
    disk: dict = field(default_factory=dict)
    #: Links on the disk before: where each leads, by name.
    links: dict = field(default_factory=dict)
    #: The calls come in one reply. Bosun's tools run them one after the other, as its loop does with those of one path.
    together: bool = False
    #: The ids that a model gives its calls, where they matter.
    ids: tuple = ()
    #: Backends on which the purpose does not apply because both do the same there.
    same_on: tuple = ()
    #: By backend: another purpose there, and what Bosun's own answer holds.
    purpose_on: dict = field(default_factory=dict)
    #: By backend: other tokens, where the reference says less there.
    tokens_on: dict = field(default_factory=dict)

    def purpose_of(self, kind):
        if kind in self.purpose_on:
            return self.purpose_on[kind]
        return ("", ()) if kind in self.same_on else (self.purpose, self.own)

    def tokens_of(self, kind):
        return self.tokens_on.get(kind, self.tokens)

    def __post_init__(self):
        if bool(self.purpose) != bool(self.own):
            raise ValueError(f"{self.name}: a purpose and what Bosun's own answer holds go together")


def write(path, content):
    return ("write_file", {"file_path": path, "content": content})


def read(path, **more):
    return ("read_file", {"file_path": path, **more})


def edit(path, old, new, **more):
    return ("edit_file", {"file_path": path, "old_string": old, "new_string": new, **more})


def ls(path):
    return ("ls", {"path": path})


def glob(pattern, **more):
    return ("glob", {"pattern": pattern, **more})


def grep(pattern, **more):
    return ("grep", {"pattern": pattern, **more})


def delete(path):
    return ("delete", {"file_path": path})


def execute(command, **more):
    return ("execute", {"command": command, **more})


TREE = [
    write("/a.py", "TODO one\nx\nTODO two\n"),
    write("/b/c.py", "TODO three\n"),
    write("/b/d.txt", "a.b TODO\naxb\n"),
    write("/data_01.csv", "1\n"),
    write("/x.ts", "x\n"),
    write("/y.tsx", "y\n"),
    write("/.env", "SECRET\n"),
    write("/.hid/x.yml", "y: 1\n"),
]
#: As many lines as no search shows.
MANY = {f"f{n:04}-{'n' * 60}.txt": b"needle " + b"x" * 60 + b"\n" for n in range(1200)}
#: Lines of a thousand characters.
WIDE = b"".join(b"%d" % (n % 10) * 1000 + b"\n" for n in range(200))
#: Where large results go.
EVICTED = "/large_tool_results/"
TEN = "".join(f"line {n}\n" for n in range(1, 11))

CASES = [
    # Reading.
    Case("read a whole file", [write("/a.txt", "one\ntwo\n"), read("/a.txt")]),
    Case("read a window", [write("/a.txt", TEN), read("/a.txt", offset=3, limit=2)]),
    Case("read the last lines", [write("/a.txt", TEN), read("/a.txt", offset=8, limit=100)]),
    Case("read text without a last newline", [write("/a.txt", "one\ntwo"), read("/a.txt")]),
    Case("read blank lines", [write("/a.txt", "a\n\n\nb\n"), read("/a.txt")]),
    Case("read beyond ASCII", [write("/a.txt", "é😀中\n"), read("/a.txt")]),
    Case("read past the end", [write("/a.txt", "1\n2\n3\n"), read("/a.txt", offset=9)], ("9", "(3 lines)")),
    Case("read an empty file", [write("/a.txt", ""), read("/a.txt")], ("System reminder", "empty")),
    Case("read nothing", [write("/a.txt", "x\n"), read("/a.txt", limit=0)], ("limit",)),
    Case("read a missing file", [read("/none.txt")], ("Error", "File '/none.txt' not found"),
         tokens_on={"sandbox": ("Error", "File '/none.txt'")}),
    Case("read a folder", [write("/d/a", "x"), read("/d")], ("Error", "File '/d' not found"),
         tokens_on={"sandbox": ("Error", "File '/d'")}),
    Case("read a relative path", [write("/d/a.txt", "x\n"), read("d/a.txt")]),
    Case("read CRLF as LF", [read("/a.txt")], disk={"a.txt": b"one\r\ntwo\r\n"}, backends=DISK),
    Case(
        "read VT, NEL and U+2028 inside a line",
        [write("/a.txt", "x\u000by\u0085z\u2028w\n"), read("/a.txt")],
        purpose="A6: lines end at LF, CRLF and CR only",
        own=("1\tx\u000by\u0085z\u2028w",),
        own_without=("2\t",),
        same_on=("sandbox",),
    ),
    Case("read an image", [read("/a.png")], disk={"a.png": b"\x89PNG\r\n\x1a\n" + bytes(8)}, backends=DISK,
         purpose="O08: an image that cannot be decoded is refused, not sent",
         own=("/a.png", "is not shown", "no whole PNG")),
    Case("read a sound", [read("/a.mp3")], disk={"a.mp3": b"ID3\x04" + bytes(8)}, backends=DISK),
    Case("read a film", [read("/a.mp4")], disk={"a.mp4": bytes(4) + b"ftypisom"}, backends=DISK),
    Case("read a PDF", [read("/a.pdf")], disk={"a.pdf": b"%PDF-1.4\n%%EOF\n"}, backends=DISK),
    Case("read Latin-1", [read("/a.txt")], ("utf-8",), disk={"a.txt": b"caf\xe9\n"}, backends=DISK,
         purpose_on={"sandbox": ("A8: what is no UTF-8 is a failure, and one is told as an error on every backend", ("Error", "/a.txt", "utf-8"))}),
    Case("read a film in Matroska", [read("/a.mkv")], disk={"a.mkv": b"\x1aE\xdf\xa3" + bytes(8)}, backends=DISK,
         purpose="O08: a film that cannot be looked at is refused, not sent", own=("/a.mkv", "is not shown")),
    Case("read slides", [read("/a.pptx")], disk={"a.pptx": b"PK\x03\x04" + bytes(8)}, backends=DISK,
         purpose="O08: a document that no model takes is refused, not sent", own=("/a.pptx", "is not shown")),
    Case("read a limit that is text", [write("/a.txt", TEN), read("/a.txt", limit="5")]),
    Case("read one line that does not fit", [read("/a.txt")], ("truncated",), disk={"a.txt": b"x" * 90_000},
         backends=DISK),
    # Links.
    Case("read through a link", [read("/l")], disk={"a.txt": b"x\n"}, links={"l": "a.txt"}, backends=DISK),
    Case("read through a link that leads out", [read("/l")], links={"l": "/etc/hostname"}, backends=DISK,
         purpose="P09: a link that leads out is an error of the tool", own=("Error", "'/l' leads outside its root")),
    Case("read a link to nowhere", [read("/l")], ("Error", "'/l'"), links={"l": "nowhere"}, backends=DISK),
    Case("read a link in a loop", [read("/l")], ("Error", "'/l'"), links={"l": "l"}, backends=DISK),
    Case("read a row of over 5,000 characters", [write("/long.txt", "L" * 5001 + "\nshort\n"), read("/long.txt")],
         purpose="A2: rows over 5,000 characters are continued", own=("1\tLLL", "1.1\tL\n", "2\tshort")),
    Case("read more than is shown at once", [read("/a.txt", limit=200)],
         purpose="A2: the numbers of the rows count towards what is shown",
         own=("1\t000", "78\t777", "[Lines 1-78 of 200. More follows: the next offset is 78.]"), disk={"a.txt": WIDE},
         backends=DISK),
    # Paths.
    Case("leave by ..", [read("/a/../../etc/passwd")], ("Error", "/a/../../etc/passwd")),
    Case("leave by .. alone", [ls("..")], ("Error", "..")),
    Case("start at a home folder", [read("~/x")], ("Error", "~/x")),
    Case("a Windows path", [read("C:\\x")], ("Error", "Windows", "C:\\x")),
    Case("two dots inside a name", [write("/report..final.md", "x\n"), read("/report..final.md")],
         purpose="A7: .. is refused as a whole component only", own=("1\tx",), same_on=("state", "store", "sandbox")),
    Case("repeated slashes", [write("/d/a.txt", "x\n"), read("//d//a.txt")],
         purpose="A7: repeated slashes collapse", own=("1\tx",), same_on=DISK),
    Case("percent signs are literal", [write("/%2e%2e", "x\n"), read("/%2e%2e")]),
    # Writing.
    Case("write a new file", [write("/a/b/c.txt", "x")], ("/a/b/c.txt",)),
    Case("write over a file", [write("/a.txt", "1"), write("/a.txt", "2")],
         purpose="A3: refused unless overwrite is said", own=("Error", "/a.txt", "already exists", "overwrite: true")),
    Case("write and read back", [write("/a.txt", "tab\there\n"), read("/a.txt")]),
    Case("write onto a folder", [write("/d/a", "x"), write("/d", "x")], ("Error", "/d", "is a directory"), backends=DISK,
         purpose_on={"sandbox": ("A8: every failure is an answer, and none ends the run", ("Error", "'/d' is a directory"))}),
    Case("the mode of a new file", [write("/a.txt", "x"), execute("ls -l a.txt")], ("-rw-r--r--",),
         backends=("shell", "sandbox")),
    Case("write one file twice in a step", [write("/n", "1"), write("/n", "2")], ("Error",), together=True, backends=WHOLE),
    Case("write and edit one file in a step", [write("/n", "1"), edit("/n", "1", "2")], together=True, backends=WHOLE,
         purpose="A12: changes of one path in one step are made in call order", own=("/n", "1")),
    Case("write two files in a step", [write("/n", "1"), write("/m", "2")], ("/m",), together=True, backends=WHOLE),
    # Editing.
    Case("edit one place", [write("/a.txt", "foo bar\n"), edit("/a.txt", "bar", "baz")], ("/a.txt", "1")),
    Case("edit and read back", [write("/a.txt", "foo bar\n"), edit("/a.txt", "bar", "baz"), read("/a.txt")]),
    Case("edit every place", [write("/a.txt", "aXbXc"), edit("/a.txt", "X", "Y", replace_all=True)], ("/a.txt", "2")),
    Case("edit without overlap",
         [write("/a.txt", "aaa\n"), edit("/a.txt", "aa", "b", replace_all=True), read("/a.txt")]),
    Case("edit text that is not there", [write("/a.txt", "x"), edit("/a.txt", "zz", "y")],
         ("Error", "String not found in file: 'zz'")),
    Case("edit text that is there twice", [write("/a.txt", "x x"), edit("/a.txt", "x", "y")],
         ("Error", "'x'", "2", "replace_all"), tokens_on={"sandbox": ("Error", "'x'", "replace_all")}),
    Case("edit with a last newline too many", [write("/a.txt", "abc\ndef"), edit("/a.txt", "def\n", "x")],
         ("Error", "ends with a newline"), tokens_on={"sandbox": ("Error", "String not found in file")}),
    Case("edit with a last newline too many, there twice", [write("/a.txt", "q q"), edit("/a.txt", "q\n", "x")],
         ("Error", "ends with a newline"), tokens_on={"sandbox": ("Error", "String not found in file")}),
    Case("edit by text that looks like a group", [write("/a.txt", "a b\n"), edit("/a.txt", "b", r"\1 $0 x"), read("/a.txt")]),
    Case("edit with an empty old_string", [write("/a.txt", "x"), edit("/a.txt", "", "y")],
         ("Error", "old_string", "empty")),
    Case("edit into the same text", [write("/a.txt", "x"), edit("/a.txt", "x", "x")],
         purpose="P28: old_string equal to new_string is an error",
         own=("Error", "/a.txt", "old_string and new_string are the same")),
    Case("edit a missing file", [edit("/none.txt", "a", "b")], ("Error", "File '/none.txt' not found")),
    Case("edit a file that was not read", [edit("/a.txt", "x", "y")], disk={"a.txt": b"x\n"},
         backends=DISK, purpose="A4: read before edit", own=("Error", "/a.txt", "has not been read yet; read it")),
    Case("edit CRLF text with LF", [read("/a.txt"), edit("/a.txt", "a\nb", "x\ny"), execute("od -c a.txt")],
         ("x  \\r  \\n   y  \\r  \\n   c",), disk={"a.txt": b"a\r\nb\r\nc"}, backends=("shell", "sandbox"),
         purpose="A5: line ends stay what they are", own=("x  \\r  \\n   y  \\r  \\n   c",), same_on=("sandbox",)),
    # Listing.
    Case("list the root", TREE + [ls("/")],
         purpose_on={"sandbox": ("A23: folders are listed with a slash on every backend", ("/a.py", "/b/", "/.hid/"))}),
    Case("list a folder", TREE + [ls("/b")]),
    Case("list a missing folder", [write("/a", "x"), ls("/zz")], ("Error", "Path '/zz': path_not_found"),
         purpose="A8: a folder that is not there is a failure, and one is told as an error on every backend",
         own=("Error", "Path '/zz': path_not_found"), same_on=DISK),
    Case("list a file", [write("/a.txt", "x"), ls("/a.txt")], ("Error", "not_a_directory"),
         purpose="A8: to list a file is a failure, and one is told as an error on every backend",
         own=("Error", "Path '/a.txt': not_a_directory"), same_on=DISK),
    # Finding.
    Case("glob a bare pattern", TREE + [glob("*.py")]),
    Case("glob with folders", TREE + [glob("**/*.py")]),
    Case("glob anchored", TREE + [glob("/*.py")]),
    Case("glob below a folder", TREE + [glob("*", path="/b")]),
    Case("glob braces", TREE + [glob("*.{ts,tsx}")]),
    Case("glob classes", TREE + [glob("data_[0-9][0-9].csv")]),
    Case("glob all below", TREE + [glob("b/**")]),
    Case("glob a hidden name", TREE + [glob(".env")]),
    Case("glob in a hidden folder, unnamed", TREE + [glob("*.yml")],
         purpose="A9: hidden folders are skipped unless the pattern names them", own=("No files found",)),
    Case("glob in a hidden folder, named", TREE + [glob(".hid/*.yml")]),
    Case("glob nothing", TREE + [glob("*.rs")], ("No files found",)),
    Case("glob an empty pattern", TREE + [glob("")], ("No files found",)),
    Case("glob with ..", TREE + [glob("../x")], ("..",), tokens_on={"sandbox": ("Error",)}),
    Case("glob ignored files", [glob("*.log")], disk={".gitignore": b"*.log\n", "a.log": b"x"}, backends=DISK,
         purpose="A9: ignore files are honoured", own=("No files found",)),
    Case("glob too many braces", TREE + [glob("{a,b}" * 12)], ("Error",)),
    Case("glob more than is shown", [glob("*.txt")], ("/f0000",), disk=MANY, backends=DISK),
    # Searching.
    Case("grep for files", TREE + [grep("TODO")]),
    Case("grep for lines", TREE + [grep("TODO", output_mode="content")]),
    Case("grep for counts", TREE + [grep("TODO", output_mode="count")]),
    Case("grep is literal", TREE + [grep("a.b", output_mode="content")]),
    Case("grep minds case", TREE + [grep("todo")], ("No matches found",)),
    Case("grep with a filter", TREE + [grep("TODO", glob="*.py")]),
    Case("grep below a folder", TREE + [grep("TODO", path="/b")]),
    Case("grep in one file", TREE + [grep("TODO", path="/a.py", output_mode="content")]),
    Case("grep nothing", TREE + [grep("zzz")], ("No matches found",)),
    Case("grep what looks like a pattern", TREE + [grep("one|two")], ("No matches found",)),
    Case("grep in hidden files", TREE + [grep("SECRET")],
         purpose="A9: hidden files are skipped on every backend", own=("No matches found",),
         same_on=("filesystem", "composite")),
    Case("grep more than asked for", TREE + [grep("TODO", max_count=2, output_mode="content")], ("max",)),
    Case("grep all that was asked for", TREE + [grep("TODO", max_count=4, output_mode="content")],
         purpose="A9: a search is the same on every backend, and all that was asked for is complete",
         own=("TODO one", "TODO two", "TODO three", "a.b TODO"), own_without=("max", "truncated"),
         same_on=("state", "filesystem", "store", "sandbox")),
    Case("grep an empty pattern", TREE + [grep("", output_mode="count")],
         purpose="A6: there is no line behind the last line end", own=("/a.py: 3", "/b/c.py: 1"),
         own_without=("/a.py: 4",), same_on=("filesystem", "composite"),
         purpose_on={"sandbox": ("A9: hidden files are skipped on every backend", ("/a.py: 3", "/b/c.py: 1"))}),
    Case("grep for no matches at all", TREE + [grep("TODO", max_count=0)], ("Error",)),
    Case("grep in an unknown mode", TREE + [grep("TODO", output_mode="words")], ("Error",)),
    Case("grep with too many braces in its filter", TREE + [grep("TODO", glob="{a,b}" * 12)], ("1000",),
         purpose_on={"sandbox": ("A9: one dialect on every backend, with more than 1000 expansions an error", ("Error", "1000 patterns"))}),
    Case("grep with more lines than are shown", [grep("needle", output_mode="content")], ("/f", "narrow"), disk=MANY,
         backends=DISK),
    # Deleting.
    Case("delete a file", [write("/a.txt", "x"), delete("/a.txt")], ("Deleted /a.txt",)),
    Case("delete and list", [write("/a.txt", "x"), write("/b.txt", "x"), delete("/a.txt"), ls("/")]),
    Case("delete a folder", [write("/d/a", "x"), write("/d/b", "x"), write("/e", "x"), delete("/d"), ls("/")]),
    Case("delete what is not there", [delete("/none")], ("Error", "'/none'", "not found")),
    Case("delete a link to nowhere", [delete("/l")], links={"l": "nowhere"}, backends=DISK,
         purpose="A10: the link goes", own=("Deleted /l",), same_on=("sandbox",)),
    Case("delete a link to a folder", [delete("/l"), ls("/d")], links={"l": "d"}, disk={"d/a": b"x"}, backends=DISK,
         purpose="A10: the link goes, never its target", own=("/d/a",), same_on=("sandbox",)),
    Case("delete the root", [write("/a.txt", "x"), delete("/")],
         purpose="A10: the root and mounts cannot be deleted", own=("Error", "'/' cannot be deleted")),
    # A path space of several.
    Case("a mount in a listing", [write("/memories/m.md", "x\n"), write("/a", "x"), ls("/")], backends=("composite",)),
    Case("a mount read back", [write("/memories/m.md", "x\n"), read("/memories/m.md")], backends=("composite",)),
    Case("a mount in a search", [write("/memories/m.md", "needle\n"), write("/a", "needle\n"), grep("needle")],
         backends=("composite",)),
    Case("a prefix that is no mount", [write("/memories_evil/m.md", "x\n"), ls("/")], backends=("composite",)),
    Case("an error below a mount", [read("/memories/zz.md")], ("Error", "File '/memories/zz.md' not found"),
         backends=("composite",), purpose="A8: errors show the full path",
         own=("Error", "File '/memories/zz.md' not found")),
    Case("delete a mount", [write("/memories/m.md", "x\n"), delete("/memories")], backends=("composite",),
         purpose="A10: the root and mounts cannot be deleted", own=("Error", "'/memories' cannot be deleted")),
    Case("a mount in a capped search", [write("/memories/m.md", "needle\n"), write("/a", "needle\nneedle\n"),
         grep("needle", max_count=2, output_mode="content")], ("/a", "max"), backends=("composite",)),
    Case("grep in a mount", [write("/memories/m.md", "needle\n"), write("/a", "needle\n"), grep("needle", path="/memories")],
         backends=("composite",)),
    Case("grep beside a mount", [write("/memories/m.md", "needle\n"), write("/d/a", "needle\n"), grep("needle", path="/d")],
         backends=("composite",)),
    Case("glob into a mount from the root", [write("/memories/m.md", "x\n"), glob("**/*.md")], backends=("composite",)),
    Case("glob a bare pattern into a mount", [write("/memories/m.md", "x\n"), glob("*.md")], backends=("composite",)),
    Case("glob the top of a mount", [write("/memories/m.md", "x\n"), write("/memories/d/n.md", "x\n"), glob("/memories/*.md")],
         backends=("composite",)),
    Case("glob anchored beside a mount", [write("/memories/m.md", "x\n"), glob("/*.md")], backends=("composite",)),
    Case("a file behind a mount", [read("/memories/real.txt")], ("Error", "/memories/real.txt"),
         disk={"memories/real.txt": b"needle\n"}, backends=("composite",), purpose="A8: errors show the full path",
         own=("Error", "File '/memories/real.txt' not found")),
    Case("a folder behind a mount in a listing", [ls("/")], disk={"memories/real.txt": b"needle\n", "a": b"x"},
         backends=("composite",), purpose="A25: a name is one thing, and the mount has it", own=("/memories/", "/a")),
    Case("grep behind a mount", [grep("needle")], disk={"memories/real.txt": b"needle\n", "a": b"needle\n"},
         backends=("composite",), purpose="A9: what cannot be read is not found either", own=("/a",),
         own_without=("real.txt",)),
    Case("glob behind a mount", [glob("*.txt")], disk={"memories/real.txt": b"needle\n", "a.txt": b"x"},
         backends=("composite",), purpose="A9: what cannot be read is not found either", own=("/a.txt",),
         own_without=("real.txt",)),
    # Commands.
    Case("run a command", [execute("echo hi")], ("hi", "exit code 0"), backends=("shell", "sandbox")),
    Case("run a command that fails", [execute("echo no; exit 3")], ("no", "exit code 3"), backends=("shell", "sandbox")),
    Case("run and say on standard error", [execute("echo oops >&2")], ("[stderr] oops",), backends=("shell",)),
    Case("run in the project", [write("/a.txt", "here\n"), execute("cat a.txt")], ("here",),
         backends=("shell", "sandbox")),
    Case("keep what came before the time ran out", [execute("echo early; sleep 30", timeout=1)], ("early",),
         backends=("shell",), purpose="A11: partial output is kept", own=("early", "timed out after 1 s")),
    Case("run without a shell", [execute("true")], ("Error", "execute"), backends=("filesystem",)),
    # What leaves the conversation.
    Case("a result that stays", [execute("yes x | head -c 70000")], ("x\nx\nx", "exit code 0"), without=(EVICTED,),
         backends=("agent",)),
    Case("a result that is too large", [execute("seq -f 'line %05g of very many' 4000")],
         (EVICTED + "call_0", "lines truncated", "1  line 00001 of", "5  line 00005 of"),
         without=("line 00006", "line 03990"), backends=("agent",)),
    Case("a result of long lines",
         [execute("for n in 1 2 3 4 5 6 7; do head -c 12000 /dev/zero | tr '\\0' $n; echo; done")],
         (EVICTED + "call_0", "1  " + "1" * 1000, "7  " + "7" * 1000), without=("1" * 1001, "truncated]"), backends=("agent",)),
    *[Case(f"a large result by {what}", [execute("yes x | head -c 90000")], (EVICTED + name,), ids=(given,),
           backends=("agent",))
      for what, given, name in [
          ("an id with a dot and a slash", "call.1/a", "call_1_a"),
          ("an id that climbs", "../a.b\\c", "___a_b_c"),
          ("an id of 128 bytes", "y" * 128, "y" * 128),
          ("an id of 129 bytes", "z" * 129, "call-"),
      ]],
    Case("a large result by a long id", [execute("yes x | head -c 90000")], ("z" * 32 + "...",), ids=("z" * 129,),
         without=("z" * 33,), backends=("agent",)),
    Case("a file that is read is not put away", [read("/a.txt", limit=200)], without=(EVICTED,), tokens=("0000",),
         disk={"a.txt": WIDE}, backends=("agent",)),
]
