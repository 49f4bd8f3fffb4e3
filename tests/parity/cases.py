"""What is asked of both sides: one list of calls per case, and what may differ on purpose."""

import struct
import zlib
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
    #: The lines of behaviour.md, Part B section 11, that this is about.
    lines: str = ""
    #: What both answers have to hold, where the words around it may differ: as Part B 3.9 has it. Paths and lines of a
    #: search are compared all the same.
    tokens: tuple = ()
    #: What neither may hold.
    without: tuple = ()
    #: A number of behaviour.md Part A, a case of security.md or one of NOTES where Bosun differs on purpose, and why in
    #: short.
    purpose: str = ""
    #: With a purpose: what Bosun's own answer has to hold, without regard to case. It has to be an error where one of them
    #: begins with "Error", and a success where none does.
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

    def purpose_of(self, kind):
        if kind in self.purpose_on:
            return self.purpose_on[kind]
        return ("", ()) if kind in self.same_on else (self.purpose, self.own)

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
#: The same in one file. Of more files than it shows the reference takes those that its threads come to first.
LONG = b"".join(b"needle %04d " % n + b"x" * 100 + b"\n" for n in range(1200))
#: Lines of a thousand characters.
WIDE = b"".join(b"%d" % (n % 10) * 1000 + b"\n" for n in range(200))
#: Where large results go.
EVICTED = "/large_tool_results/"
TEN = "".join(f"line {n}\n" for n in range(1, 11))

#: Everything that Part B, section 11, begins with.
FILES = [
    write("/a.txt", "one\ntwo\nthree\n"),
    write("/e.txt", ""),
    write("/ws.txt", "  \n\n"),
    write("/dir/b.py", "b\n"),
    write("/dir/sub/c.py", "c\n"),
    write("/.hid/x.yml", "y\n"),
    write("/long.txt", "L" * 5001 + "\nshort\n"),
    write("/two.txt", "foo bar foo\n"),
]
IGNORED = {
    ".gitignore": b"*.log\n",
    "a.log": b"needle\n",
    "b.txt": b"needle\n",
    ".hidden/c": b"needle\n",
    ".env": b"needle\n",
}
#: What makes a repository of it, as far as a search looks.
REPOSITORY = {".git/HEAD": b"ref: refs/heads/main\n", ".git/objects/x": b"needle\n", ".git/refs/x": b"needle\n"}
HEIC = bytes((0, 0, 0, 24)) + b"ftypheic" + bytes(64)


def png(side):
    """A whole picture."""
    part = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    rows = b"".join(b"\0" + b"\0" * 3 * side for _ in range(side))
    head = part(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")


# What the errors and notices of Part B 3.9 have to hold.


def leads_out(given):
    return ("Error:", given)


def not_found(path):
    return (f"Error: File '{path}' not found",)


def no_folder(path):
    return (f"Error: Path '{path}': path_not_found",)


def not_a_folder(path):
    return (f"Error: Path '{path}': not_a_directory",)


def no_string(old):
    return (f"String not found in file: '{old}'",)


def bad_argument(tool, argument, *reason):
    return (f"Error invoking tool '{tool}'", argument, *reason)


WINDOWS = ("Error:", "Windows")
ENDS_WITH_A_NEWLINE = ("ends with a newline",)
IN_PARALLEL = ("parallel", "same path")
BINARY = ("binary",)
NO_SHELL = ("Execution not available",)
EMPTY = ("System reminder", "empty")

#: What differs on purpose and has no number in Part A: why, and the rule that it is nearest to.
NOTES = {
    "N1": "A picture in HEIC, a film in Matroska and slides are named with what to convert them to, not sent: most models"
    " refuse them, and with them every later request of the conversation. Which take HEIC no catalogue says. Nearest: A8,"
    " every failure is an answer.",
    "N2": "`./a.py` as a pattern is the file of that name in the folder searched, as `.` is that folder in a path."
    " Nearest: A7.",
    "N3": "Of a folder that was deleted the result says how many files went. A folder goes although nobody has read its"
    " files, none of which could be deleted by itself then (A4): whoever throws away what was built has read none of it, a"
    " person is asked each time and told how many files go, and can undo it. Nearest: A4.",
    "N4": "One answer on every backend, and the tokens of Part B 3.9 in it, where those of the reference differ among"
    " themselves or say less. Nearest: A8 and A9.",
}
ALIKE = "N4: the same answer on every backend"

CASES = [
    # Reading.
    Case("read a whole file", [write("/a.txt", "one\ntwo\n"), read("/a.txt")]),
    Case("read a window", [write("/a.txt", TEN), read("/a.txt", offset=3, limit=2)]),
    Case("read the last lines", [write("/a.txt", TEN), read("/a.txt", offset=8, limit=100)]),
    Case("read text without a last newline", [write("/a.txt", "one\ntwo"), read("/a.txt")]),
    Case("read blank lines", [write("/a.txt", "a\n\n\nb\n"), read("/a.txt", limit=2)], "A22"),
    Case("read blank lines further down", [write("/a.txt", "a\n\n\nb\n"), read("/a.txt", offset=1, limit=2)], "A23"),
    Case("read beyond ASCII", [write("/a.txt", "é😀中\n"), read("/a.txt")]),
    Case("read past the end", [*FILES, read("/a.txt", offset=3)], "A13", ("3", "(3 lines)")),
    Case("read from before the start", [*FILES, read("/a.txt", offset=-5)], tokens=("-5", "before the", "line 1")),
    Case("read an empty file", [*FILES, read("/e.txt")], "A16 E2", EMPTY),
    Case("read white space", [*FILES, read("/ws.txt")], "A16 H5", EMPTY),
    Case("read white space further down", [*FILES, read("/ws.txt", offset=5)], "A16", EMPTY,
         purpose_on={"sandbox": (ALIKE, EMPTY)}),
    Case("read nothing", [*FILES, read("/a.txt", limit=0)], "A15", ("limit", "0")),
    Case("read less than nothing", [*FILES, read("/a.txt", limit=-5)], "A15", ("limit", "-5")),
    Case("read a missing file", [*FILES, read("/none.txt")], "A17", not_found("/none.txt"),
         purpose_on={"sandbox": (ALIKE, not_found("/none.txt"))}),
    Case("read a folder", [*FILES, read("/dir")], "A17", not_found("/dir"),
         purpose_on={"sandbox": (ALIKE, not_found("/dir"))}),
    Case("read a relative path", [write("/d/a.txt", "x\n"), read("d/a.txt")]),
    Case("read CRLF as LF", [write("/a.txt", "a\r\nb\r\n"), read("/a.txt")], "A27"),
    Case("read CR as LF", [write("/a.txt", "a\rb\rc"), read("/a.txt")], "A28"),
    Case("read CRLF that was there", [read("/a.txt")], disk={"a.txt": b"one\r\ntwo\r\n"}, backends=DISK),
    Case("read VT, NEL and U+2028 inside a line", [write("/a.txt", "x\u000by\u0085z\u2028w\n"), read("/a.txt")],
         purpose="A6: lines end at LF, CRLF and CR only", own=("1\tx\u000by\u0085z\u2028w",), own_without=("2\t",),
         same_on=("sandbox",)),
    Case("read an image", [read("/a.png")], "E7", disk={"a.png": png(4)}, backends=DISK),
    Case("read an image called in capitals", [read("/a.PNG")], "E7", disk={"a.PNG": png(4)}, backends=DISK),
    Case("read an image that is empty", [read("/a.png")], tokens=EMPTY, disk={"a.png": b""}, backends=DISK,
         purpose_on={"sandbox": (ALIKE, EMPTY)}),
    Case("read an image that is broken", [read("/a.png")], disk={"a.png": b"\x89PNG\r\n\x1a\n" + bytes(8)}, backends=DISK,
         purpose="O08: an image that cannot be decoded is refused, not sent",
         own=("/a.png", "is not shown", "no whole PNG")),
    Case("read an image of 600,000 bytes", [read("/a.png")], "H4", disk={"a.png": png(4) + bytes(600_000)}, backends=DISK,
         purpose_on={"sandbox": (ALIKE, ("image/png",))}),
    Case("read an image in HEIC", [read("/a.heic")], disk={"a.heic": HEIC}, backends=DISK,
         purpose="N1: what most models refuse is named, not sent", own=("/a.heic", "is not shown", "converted to JPEG or PNG")),
    Case("read a sound", [read("/a.mp3")], "E7", disk={"a.mp3": b"ID3\x04" + bytes(8)}, backends=DISK),
    Case("read a film", [read("/a.mp4")], "E7", disk={"a.mp4": bytes(4) + b"ftypisom"}, backends=DISK),
    Case("read a PDF", [read("/a.pdf")], "E7", disk={"a.pdf": b"%PDF-1.4\n%%EOF\n"}, backends=DISK),
    Case("read a film in Matroska", [read("/a.mkv")], "E8", disk={"a.mkv": b"\x1aE\xdf\xa3" + bytes(8)}, backends=DISK,
         purpose="N1: what most models refuse is named, not sent", own=("/a.mkv", "is not shown", "converted to MP4 or WebM")),
    *[Case(f"read slides, .{name}", [read(f"/a.{name}")], disk={f"a.{name}": start + bytes(8)}, backends=DISK,
           purpose="N1: what most models refuse is named, not sent", own=(f"/a.{name}", "is not shown", "PDF"))
      for name, start in [("pptx", b"PK\x03\x04"), ("ppt", b"\xd0\xcf\x11\xe0")]],
    *[Case(f"read a drawing or data as text, {name}", [read(f"/{name}")], "E10", disk={name: b"<svg/>\n{}\n"}, backends=DISK)
      for name in ["a.svg", "a.json", "plain"]],
    *[Case(f"read what is no UTF-8, {name}", [read(f"/{name}")], "E11 H3", ("Error", "utf-8"), disk={name: content},
           backends=DISK, purpose_on={"sandbox": ("A8: what is no UTF-8 is a failure, and one is told as an error on every"
                                                  " backend", ("Error", f"/{name}", "utf-8"))})
      for name, content in [("a.txt", b"caf\xe9\n"), ("a.dat", b"\xff\xfe\x00"), ("a.docx", b"PK\x03\x04\xff\xfe")]],
    Case("read a limit that is text", [*FILES, read("/a.txt", limit="5")], "A32"),
    Case("read one line that does not fit", [read("/a.txt")], "E18", ("truncated mid-line",), disk={"a.txt": b"x" * 90_000},
         backends=DISK),
    Case("read a row of over 5,000 characters", [*FILES, read("/long.txt")], "A18",
         purpose="A2: rows over 5,000 characters are continued", own=("1\tLLL", "1.1\tL\n", "2\tshort")),
    Case("read more than is shown at once", [read("/a.txt", limit=200)], "A31",
         purpose="A2: the numbers of the rows count towards what is shown",
         own=("1\t000", "78\t777", "[Lines 1-78 of 200. More follows: the next offset is 78.]"), disk={"a.txt": WIDE},
         backends=DISK),
    # Links.
    Case("read through a link", [read("/l")], disk={"a.txt": b"x\n"}, links={"l": "a.txt"}, backends=DISK),
    Case("read through a link that leads out", [read("/l")], "E13", links={"l": "/etc/hostname"}, backends=DISK,
         purpose="P09: a link that leads out is an error of the tool", own=("Error", "'/l' leads outside its root")),
    Case("read a link to nowhere", [read("/l")], "E15", not_found("/l"), links={"l": "nowhere"}, backends=DISK,
         purpose_on={"sandbox": (ALIKE, not_found("/l"))}),
    Case("read a link in a loop", [read("/l")], "E15", ("Error", "'/l'", "loop"), links={"l": "l"}, backends=DISK,
         purpose_on={"sandbox": (ALIKE, ("Error", "'/l'", "loop"))}),
    # Paths.
    Case("leave by ..", [read("/a/../b.txt")], "A19", leads_out("/a/../b.txt")),
    Case("leave by .. alone", [ls("..")], tokens=leads_out("..")),
    Case("start at a home folder", [ls("~/x")], "A7", leads_out("~/x")),
    Case("a Windows path", [ls("C:/x")], "A8", (*WINDOWS, "C:/x")),
    Case("a Windows path with its own slashes", [read("C:\\x")], tokens=(*WINDOWS, "C:\\x")),
    Case("two dots inside a name", [write("/report..final.md", "x\n"), read("/report..final.md")],
         purpose="A7: .. is refused as a whole component only", own=("1\tx",), same_on=("state", "store", "sandbox")),
    Case("two dots inside a name that is missing", [read("/foo..bar.txt")], "A20", not_found("/foo..bar.txt"),
         purpose_on={**{kind: ("A7: .. is refused as a whole component only", not_found("/foo..bar.txt"))
                        for kind in ("filesystem", "composite")},
                     "sandbox": (ALIKE, not_found("/foo..bar.txt"))}),
    Case("repeated slashes", [write("//dd//a.txt", "x\n"), read("/dd/a.txt")], "B28",
         purpose="A7: repeated slashes collapse", own=("1\tx",), same_on=DISK),
    Case("repeated slashes in a listing", [*FILES, ls("//dir//sub")], "A10",
         purpose="A7: repeated slashes collapse", own=("/dir/sub/c.py",), same_on=DISK),
    Case("percent signs are literal", [write("/%2e%2e", "x\n"), read("/%2e%2e")]),
    # Writing.
    Case("write a new file", [write("/n.txt", "x")], "B1"),
    Case("write by a relative path", [write("n2.txt", "x")], "B1"),
    Case("write into folders that are not there", [write("/x/y/z.txt", "a\r\nb\r\n")], "E6"),
    Case("write over a file", [write("/a.txt", "1"), write("/a.txt", "2")], "B2 H6",
         purpose="A3: refused unless overwrite is said", own=("Error", "/a.txt", "already exists", "overwrite: true")),
    Case("write and read back", [write("/a.txt", "tab\there\n"), read("/a.txt")], "B6"),
    Case("write CRLF and read back", [write("/a.txt", "a\r\nb\r\n"), execute("od -c a.txt")], "E6", ("a  \\r  \\n   b  \\r  \\n",),
         backends=("shell", "sandbox")),
    Case("write to no path", [write("", "x")], "B27", ("Error", "is a directory"),
         purpose="A7: an empty path is the root, which is a folder", own=("Error", "'/' is a directory"),
         same_on=("filesystem", "composite"),
         purpose_on={"sandbox": ("A8: every failure is an answer, and none ends the run", ("Error", "'/' is a directory"))}),
    Case("write onto a folder", [write("/d/a", "x"), write("/d", "x")], "E19", ("Error", "/d", "is a directory"),
         backends=DISK,
         purpose_on={"sandbox": ("A8: every failure is an answer, and none ends the run", ("Error", "'/d' is a directory"))}),
    Case("the mode of a new file", [write("/a.txt", "x"), execute("ls -l a.txt")], "E35", ("-rw-r--r--",),
         backends=("shell", "sandbox")),
    Case("write one file twice in a step", [write("/n", "1"), write("/n", "2")], "B3", IN_PARALLEL, together=True,
         backends=WHOLE,
         purpose="A12: changes of one path in one step are made in call order, and this one A3 refuses",
         own=("Error", "'/n' already exists")),
    Case("write and edit one file in a step", [write("/n", "1"), edit("/n", "1", "2")], "B4", IN_PARALLEL, together=True,
         backends=WHOLE,
         purpose="A12: changes of one path in one step are made in call order", own=("/n", "1")),
    Case("write two files in a step", [write("/n", "1"), write("/m", "2")], "B5", together=True, backends=WHOLE),
    Case("a file and a folder of one name, the root", [write("/x", "1"), write("/x/y", "2"), ls("/")], "A35", purpose=ALIKE,
         own=("/x",), own_without=("/x/",), same_on=DISK),
    Case("a file and a folder of one name", [write("/x", "1"), write("/x/y", "2"), ls("/x")], "A35", not_a_folder("/x"),
         purpose=ALIKE, own=not_a_folder("/x"), same_on=DISK),
    # Editing.
    Case("edit one place", [write("/a.txt", "foo bar\n"), edit("/a.txt", "bar", "baz")]),
    Case("edit and read back", [write("/a.txt", "foo bar\n"), edit("/a.txt", "bar", "baz"), read("/a.txt")]),
    Case("edit every place", [*FILES, read("/two.txt"), edit("/two.txt", "foo", "X", replace_all=True)], "B11"),
    Case("edit every place and read back",
         [*FILES, read("/two.txt"), edit("/two.txt", "foo", "X", replace_all=True), read("/two.txt")], "B11"),
    Case("edit without overlap", [write("/a.txt", "aaa"), edit("/a.txt", "aa", "b"), read("/a.txt")], "B16"),
    Case("edit text that is not there", [write("/a.txt", "x"), edit("/a.txt", "zz", "y")], "B8", ("Error", *no_string("zz"))),
    Case("edit text that is there twice", [write("/a.txt", "x x"), edit("/a.txt", "x", "y")], "H7",
         ("Error", "'x'", "2", "replace_all"), purpose_on={"sandbox": (ALIKE, ("Error", "'x'", "2 times", "replace_all"))}),
    Case("edit with a last newline too many", [write("/a.txt", "abc\ndef"), edit("/a.txt", "def\n", "x")],
         tokens=("Error", *ENDS_WITH_A_NEWLINE),
         purpose_on={"sandbox": (ALIKE, ("Error", *no_string("def\n"), *ENDS_WITH_A_NEWLINE))}),
    Case("edit with a last newline too many, there twice", [write("/a.txt", "q q"), edit("/a.txt", "q\n", "x")], "B15",
         ("Error", *ENDS_WITH_A_NEWLINE, "2 times"),
         purpose_on={"sandbox": (ALIKE, ("Error", *no_string("q\n"), *ENDS_WITH_A_NEWLINE, "2 times"))}),
    Case("edit by text that looks like a group",
         [write("/a.txt", "a b\n"), edit("/a.txt", "b", r"\1 $0 x"), read("/a.txt")], "B17"),
    Case("edit with an empty old_string", [*FILES, read("/a.txt"), edit("/a.txt", "", "y")], "B13",
         ("Error", "old_string", "empty")),
    Case("edit into the same text", [write("/a.txt", "x"), edit("/a.txt", "x", "x")],
         purpose="P28: old_string equal to new_string is an error",
         own=("Error", "/a.txt", "old_string and new_string are the same")),
    Case("edit a missing file", [edit("/none.txt", "a", "b")], "B9", not_found("/none.txt")),
    Case("edit what is no text", [read("/a.png"), edit("/a.png", "P", "Q")], tokens=BINARY,
         disk={"a.png": b"\x89PNG\r\n\x1a\n" + bytes(8)}, backends=DISK, purpose=ALIKE, own=("Error", "/a.png", *BINARY)),
    Case("edit a file that was not read", [edit("/a.txt", "x", "y")], disk={"a.txt": b"x\n"}, backends=DISK,
         purpose="A4: read before edit", own=("Error", "/a.txt", "has not been read yet; read it")),
    Case("edit CRLF text with LF", [write("/a.txt", "a\r\nb\r\n"), edit("/a.txt", "a\nb", "x")], "B20",
         purpose="A5: LF text matches CRLF text", own=("Successfully replaced 1", "'/a.txt'"), same_on=DISK),
    Case("edit CRLF text with CRLF", [read("/a.txt"), edit("/a.txt", "a\r\nB", "x")], "E5", disk={"a.txt": b"a\r\nB\r\n"},
         backends=DISK),
    Case("edit CRLF text and look at its bytes", [read("/a.txt"), edit("/a.txt", "a\nb", "x\ny"), execute("od -c a.txt")],
         tokens=("x  \\r  \\n   y  \\r  \\n   c",), disk={"a.txt": b"a\r\nb\r\nc"}, backends=("shell", "sandbox"),
         purpose="A5: line ends stay what they are", own=("x  \\r  \\n   y  \\r  \\n   c",), same_on=("sandbox",)),
    # Listing.
    Case("list the root", [*FILES, ls("/")], "A1",
         purpose_on={"sandbox": ("A23: folders are listed with a slash on every backend", ("/a.txt", "/dir/", "/.hid/"))}),
    *[Case(f"list a folder as {path}", [*FILES, ls(path)], line,
           purpose_on={"sandbox": ("A23: folders are listed with a slash on every backend", ("/dir/b.py", "/dir/sub/"))})
      for path, line in [("/dir", "A2"), ("/dir/", "A2"), ("dir", "A3")]],
    Case("list a missing folder", [*FILES, ls("/nope")], "A4 E1", no_folder("/nope"),
         purpose="A8: a folder that is not there is a failure, and one is told as an error on every backend",
         own=no_folder("/nope"), same_on=DISK),
    Case("list a file", [*FILES, ls("/a.txt")], "A5 E1", not_a_folder("/a.txt"),
         purpose="A8: to list a file is a failure, and one is told as an error on every backend",
         own=not_a_folder("/a.txt"), same_on=DISK),
    # Finding.
    Case("glob a bare pattern", [*TREE, glob("*.py")], "H12"),
    Case("glob with folders", [*TREE, glob("**/*.py")], "C2"),
    Case("glob with folders below a folder", [*TREE, glob("/b/**/*.py")], "C2"),
    Case("glob all below", [*TREE, glob("b/**")], "C2"),
    Case("glob in one folder", [*TREE, glob("b/*.py")], "C3"),
    Case("glob anchored", [*TREE, glob("/*.py")], "C4"),
    Case("glob below a folder", [*TREE, glob("*.py", path="/b")], "C12"),
    Case("glob below a missing folder", [*TREE, glob("*.py", path="/nope")], "C13 E25 H11",
         purpose_on={"sandbox": (ALIKE, ("No files found", "'/nope' does not exist"))}),
    Case("glob below a file", [*TREE, glob("*.py", path="/a.py")], "E25",
         purpose="A9: glob meets the files that grep looks into, and a file that is named is one", own=("/a.py",),
         same_on=("state", "store")),
    Case("glob below a file of another name", [*TREE, glob("*.rs", path="/a.py")],
         purpose_on={"sandbox": (ALIKE, ("No files found", "'/a.py' is a file, not a folder"))}),
    Case("glob braces", [*TREE, glob("*.{ts,tsx}")], "C10"),
    Case("glob a brace that is not closed", [write("/x.{py", "x"), glob("*.{py")], "C18"),
    Case("glob a star that is one", [write("/*.py", "x"), write("/a.py", "x"), glob("\\*.py")], "C19",
         purpose_on={"sandbox": ("A9: one dialect on every backend", ("/*.py",))}),
    Case("glob a mark that is one", [*TREE, glob("!*.py")]),
    Case("glob classes", [*TREE, glob("data_[0-9][0-9].csv")]),
    Case("glob a path with a dot in front", [*TREE, glob("./a.py")], purpose="N2: . is the folder searched", own=("/a.py",)),
    Case("glob a folder", [*TREE, glob("b/")], "C17"),
    Case("glob an empty pattern", [*TREE, glob("")], "C17"),
    Case("glob a hidden name", [*TREE, glob(".env")], "E28"),
    Case("glob hidden names without a dot", [write("/.c", "x"), glob("*")], "C21"),
    *[Case(f"glob everything, {pattern}", [*TREE, glob(pattern)],
           purpose="A9: hidden folders are skipped unless the pattern names them", own=("/a.py", "/b/c.py"),
           own_without=("/.hid",))
      for pattern in ["*", "**"]],
    Case("glob everything on a disk", [glob("*")], "E20", disk={"a": b"x", ".h/b": b"x", "d/c": b"x"}, links={"l": "a"},
         backends=DISK, purpose="A10: a link is met under its own name; A9: hidden folders are skipped",
         own=("/a", "/d/c", "/l"), own_without=("/.h",)),
    Case("glob in a hidden folder, unnamed", [*TREE, glob("*.yml")], "C5",
         purpose="A9: hidden folders are skipped unless the pattern names them", own=("No files found",)),
    Case("glob in a hidden folder by any folder", [*TREE, glob("**/*.yml")], "C6"),
    Case("glob in a hidden folder, named", [*TREE, glob(".hid/*.yml")]),
    Case("glob in .git", [glob(".git/*")], disk=REPOSITORY, backends=DISK, purpose="A9: .git is never searched",
         own=("No files found",)),
    Case("glob nothing", [*TREE, glob("*.rs")], tokens=("No files found",)),
    Case("glob with ..", [*TREE, glob("../x")], "H11", ("Error", ".."),
         purpose_on={"sandbox": (ALIKE, ("Error", "'..' leads out of the folder searched"))}),
    Case("glob below ..", [*TREE, glob("*", path="/../x")], "C15", leads_out("/../x")),
    Case("glob below two dots inside a name", [*TREE, glob("*", path="/a..b")], "E17",
         purpose="A7: .. is refused as a whole component only", own=("No files found",), same_on=("state", "store"),
         purpose_on={"sandbox": (ALIKE, ("No files found",))}),
    Case("glob ignored files", [glob("*.log")], disk=IGNORED, backends=DISK, purpose="A9: ignore files are honoured",
         own=("No files found",)),
    Case("glob too many braces", [*TREE, glob("{a,b}" * 12)], "C16", ("Error", "1000"),
         purpose_on={"sandbox": (ALIKE, ("Error", "1000"))}),
    Case("glob more than is shown", [glob("*.txt")], "C23", disk=MANY, backends=DISK),
    # Searching.
    Case("grep for files", [*TREE, grep("TODO")]),
    Case("grep for lines", [*TREE, grep("TODO", output_mode="content")], "D2"),
    Case("grep for counts", [*TREE, grep("TODO", output_mode="count")], "D3"),
    Case("grep is literal", [*TREE, grep("a.b", output_mode="content")]),
    Case("grep minds case", [*TREE, grep("todo")], tokens=("No matches found",)),
    *[Case(f"grep with the filter {pattern}", [*TREE, grep("TODO", glob=pattern)], "D4")
      for pattern in ["*.py", "b/*.py", "/*.py"]],
    Case("grep below a folder", [*TREE, grep("TODO", path="/b")], "D5"),
    Case("grep in one file", [*TREE, grep("TODO", path="/b/c.py", output_mode="content")], "D5"),
    Case("grep nothing", [*TREE, grep("zzz")], tokens=("No matches found",)),
    Case("grep below a missing folder", [*TREE, grep("TODO", path="/zz")], "D16", ("No matches found",)),
    Case("grep below ..", [*TREE, grep("TODO", path="/../zz")], "D16", leads_out("/../zz")),
    Case("grep below two dots inside a name", [*TREE, grep("TODO", path="/a..b")], "E17", ("No matches found",)),
    Case("grep what looks like a pattern", [*TREE, grep("zz|yy")], "D7", ("No matches found", "literal text", "regex")),
    Case("grep in hidden files", [*TREE, grep("SECRET")], "H10",
         purpose="A9: hidden files are skipped on every backend", own=("No matches found",),
         same_on=("filesystem", "composite")),
    Case("grep in a hidden folder", [grep("needle", path="/.hidden")], "E28", disk=IGNORED, backends=DISK),
    Case("grep where ignore files are", [grep("needle")], disk=IGNORED, backends=DISK,
         purpose="A9: ignore files are honoured, in a repository or not", own=("/b.txt",), own_without=("a.log", ".env")),
    Case("grep in a repository", [grep("needle")], "E27", disk={**IGNORED, **REPOSITORY}, backends=DISK,
         purpose_on={"sandbox": ("A9: one set of files on every backend", ("/b.txt",))}),
    Case("grep with a filter for ignored files", [grep("needle", glob="*.log")], "E29", disk=IGNORED, backends=DISK,
         purpose="A9: ignore files are honoured", own=("No matches found",)),
    Case("grep in .git", [grep("needle", path="/.git")], "H10", disk=REPOSITORY, backends=DISK,
         purpose="A9: .git is never searched", own=("No matches found",)),
    Case("grep more than asked for", [*TREE, grep("TODO", max_count=2, output_mode="content")], "D12",
         ("maximum match count", "max_count")),
    Case("grep all that was asked for", [*TREE, grep("TODO", max_count=4, output_mode="content")],
         purpose="A9: a search is the same on every backend, and all that was asked for is complete",
         own=("TODO one", "TODO two", "TODO three", "a.b TODO"), own_without=("max", "truncated"),
         same_on=("state", "filesystem", "store", "sandbox")),
    Case("grep an empty pattern", [*TREE, grep("", output_mode="count")], "D11",
         purpose="A6: there is no line behind the last line end", own=("/a.py: 3", "/b/c.py: 1"),
         own_without=("/a.py: 4",), same_on=("filesystem", "composite"),
         purpose_on={"sandbox": ("A9: hidden files are skipped on every backend", ("/a.py: 3", "/b/c.py: 1"))}),
    Case("grep for no matches at all", [*TREE, grep("TODO", max_count=0)], "D14", bad_argument("grep", "max_count", "0")),
    Case("grep in an unknown mode", [*TREE, grep("TODO", output_mode="words")], "D15",
         bad_argument("grep", "output_mode", "files_with_matches", "content", "count")),
    Case("grep with too many braces in its filter", [*TREE, grep("TODO", glob="{a,b}" * 12)], tokens=("1000",),
         purpose_on={"sandbox": (ALIKE, ("Error", "1000 patterns"))}),
    Case("grep with more lines than are shown", [grep("needle", output_mode="content")], "D20",
         ("narrow", "max_count"), disk={"a.txt": LONG}, backends=DISK),
    # Deleting.
    Case("delete a file", [write("/a.txt", "x"), delete("/a.txt")], "B22"),
    Case("delete and list", [write("/a.txt", "x"), write("/b.txt", "x"), delete("/a.txt"), ls("/")]),
    Case("delete a folder", [write("/d/a", "x"), write("/d/b", "x"), delete("/d")], "B22 E23",
         purpose="N3: how many files went is said", own=("Deleted /d (2 files)",)),
    Case("delete a folder and list", [write("/d/a", "x"), write("/d/b", "x"), write("/e", "x"), delete("/d"), ls("/")], "B22"),
    Case("delete a folder that was not read and list", [delete("/d"), ls("/")], disk={"d/a": b"x", "e": b"x"}, backends=DISK),
    Case("delete a name with something below it", [write("/x", "1"), write("/x/y", "2"), delete("/x")], "B23"),
    Case("delete a name with a slash behind", [write("/x", "1"), delete("/x/")], "B23"),
    Case("delete what is not there", [delete("/none")], "E23", ("Error:", "'/none' not found")),
    Case("delete a link to nowhere", [delete("/l")], "E23", links={"l": "nowhere"}, backends=DISK,
         purpose="A10: the link goes", own=("Deleted /l",), same_on=("sandbox",)),
    Case("delete a link to a folder", [delete("/l"), ls("/d")], links={"l": "d"}, disk={"d/a": b"x"}, backends=DISK,
         purpose="A10: the link goes, never its target", own=("/d/a",), same_on=("sandbox",)),
    Case("delete a link that leads out", [delete("/l")], links={"l": "/etc"}, backends=DISK, purpose="A10: the link goes",
         own=("Deleted /l",), same_on=("sandbox",)),
    Case("delete the root", [write("/a.txt", "x"), delete("/")], "B25",
         purpose="A10: the root and mounts cannot be deleted", own=("Error", "'/' cannot be deleted")),
    Case("delete no path", [write("/a.txt", "x"), delete("")], "B26", not_found("/."),
         purpose="A7: an empty path is the root, which A10 keeps", own=("Error", "'/' cannot be deleted")),
    # A path space of several.
    Case("a mount in a listing", [write("/memories/m.md", "x\n"), write("/a", "x"), ls("/")], "G1", backends=("composite",)),
    *[Case(f"list a mount as {path}", [write("/memories/m.md", "x\n"), write("/a", "x"), ls(path)], "G2",
           backends=("composite",))
      for path in ["/memories", "/memories/"]],
    Case("a mount read back", [write("/memories/m.md", "x\n"), read("/memories/m.md")], backends=("composite",)),
    Case("edit in a mount", [write("/memories/m.md", "x\n"), edit("/memories/m.md", "x", "y")], "G7", backends=("composite",)),
    Case("delete in a mount", [write("/memories/m.md", "x\n"), delete("/memories/m.md")], "G7", backends=("composite",)),
    Case("a mount in a search", [write("/memories/m.md", "needle\n"), write("/a", "needle\n"), grep("needle")],
         backends=("composite",)),
    Case("a prefix that is no mount", [write("/memories_evil/m.md", "x\n"), ls("/")], backends=("composite",)),
    Case("a prefix that is nothing", [write("/memories/m.md", "x\n"), ls("/memoriesX")], "G3", no_folder("/memoriesX"),
         backends=("composite",)),
    Case("an error below a mount", [read("/memories/zz.md")], "G5", not_found("/memories/zz.md"), backends=("composite",),
         purpose="A8: errors show the full path", own=not_found("/memories/zz.md")),
    Case("list a missing folder of a mount", [ls("/memories/none")], "G6", no_folder("/memories/none"),
         backends=("composite",), purpose="A8: a folder that is not there is a failure, told with its full path",
         own=no_folder("/memories/none")),
    Case("delete a missing file of a mount", [delete("/memories/none")], "G6", not_found("/memories/none"),
         backends=("composite",), purpose="A8: errors show the full path", own=not_found("/memories/none")),
    Case("delete a mount", [write("/memories/m.md", "x\n"), delete("/memories")], backends=("composite",),
         purpose="A10: the root and mounts cannot be deleted", own=("Error", "'/memories' cannot be deleted")),
    Case("a mount in a capped search", [write("/memories/m.md", "needle\n"), write("/a", "needle\nneedle\n"),
         grep("needle", max_count=2, output_mode="content")], "G9", ("max_count",), backends=("composite",)),
    Case("grep in a mount", [write("/memories/m.md", "needle\n"), write("/a", "needle\n"), grep("needle", path="/memories")],
         "G10", backends=("composite",)),
    Case("grep beside a mount", [write("/memories/m.md", "needle\n"), write("/d/a", "needle\n"), grep("needle", path="/d")],
         "G10", backends=("composite",)),
    Case("glob into a mount from the root", [write("/memories/m.md", "x\n"), glob("**/*.md")], "G11", backends=("composite",)),
    Case("glob a bare pattern into a mount", [write("/memories/m.md", "x\n"), glob("*.md")], "G11", backends=("composite",)),
    Case("glob the top of a mount", [write("/memories/m.md", "x\n"), write("/memories/d/n.md", "x\n"), glob("/memories/*.md")],
         "G12", backends=("composite",)),
    Case("glob anchored beside a mount", [write("/memories/m.md", "x\n"), glob("/*.md")], "G13", backends=("composite",)),
    Case("a file behind a mount", [read("/memories/real.txt")], "G14", not_found("/memories/real.txt"),
         disk={"memories/real.txt": b"needle\n"}, backends=("composite",), purpose="A8: errors show the full path",
         own=not_found("/memories/real.txt")),
    Case("a folder behind a mount in a listing", [ls("/")], "G14", disk={"memories/real.txt": b"needle\n", "a": b"x"},
         backends=("composite",), purpose="A25: a name is one thing, and the mount has it", own=("/memories/", "/a")),
    Case("grep behind a mount", [grep("needle")], "G14", disk={"memories/real.txt": b"needle\n", "a": b"needle\n"},
         backends=("composite",), purpose="A9: what cannot be read is not found either", own=("/a",),
         own_without=("real.txt",)),
    Case("glob behind a mount", [glob("*.txt")], "G14", disk={"memories/real.txt": b"needle\n", "a.txt": b"x"},
         backends=("composite",), purpose="A9: what cannot be read is not found either", own=("/a.txt",),
         own_without=("real.txt",)),
    # Commands.
    Case("run a command", [execute("echo hello")], "F1", backends=("shell", "sandbox")),
    Case("run a command that fails and says nothing", [execute("exit 3")], "F7",
         ("<no output>", "[Command failed with exit code 3]"), backends=("shell", "sandbox"),
         purpose_on={"sandbox": (ALIKE, ("<no output>", "[Command failed with exit code 3]"))}),
    Case("run a command that fails", [execute("echo hi; exit 4")], "H13", backends=("shell", "sandbox"),
         purpose="A11: the exit code is told once", own=("hi\n", "[Command failed with exit code 4]"),
         own_without=("Exit code:",), same_on=("sandbox",)),
    Case("run a command that is not there", [execute("[[ 1 == 1 ]]")], "F22", ("not found", "exit code 127"),
         backends=("shell", "sandbox")),
    Case("run nothing", [execute("")], "F8", backends=("shell", "sandbox"),
         purpose="A8: every failure is an error", own=("Error", "the command is empty")),
    Case("run and say on standard error", [execute("echo oops >&2")], tokens=("[stderr] oops",), backends=("shell",)),
    Case("run and say what is no UTF-8", [execute("printf '\\377\\376'")], "F17", ("\ufffd\ufffd", "exit code 0"),
         backends=("shell", "sandbox"), purpose="A11: invalid UTF-8 is shown lossily", own=("\ufffd\ufffd", "exit code 0"),
         same_on=("sandbox",)),
    Case("run in the project", [write("/a.txt", "here\n"), execute("cat a.txt")], backends=("shell", "sandbox")),
    Case("run with a home folder", [execute('test -n "$HOME" && echo has one')], "F18", ("has one",), backends=("shell",)),
    Case("run with no time", [execute("true", timeout=-1)], tokens=("Error", "timeout", "-1"), backends=("shell", "sandbox")),
    Case("run with too much time", [execute("true", timeout=4000)], tokens=("Error", "timeout", "4000", "3600"),
         backends=("shell", "sandbox")),
    Case("run out of time", [execute("sleep 30", timeout=1)], "F10", ("timed out", "1 s", "exit code 124"),
         backends=("shell",)),
    Case("keep what came before the time ran out", [execute("echo early; sleep 30", timeout=1)], tokens=("early",),
         backends=("shell",), purpose="A11: partial output is kept", own=("early", "timed out after 1 s")),
    Case("leave a process behind when time runs out",
         [execute("(sleep 2; touch late) & sleep 30", timeout=1), execute("sleep 3; ls")], "F20", backends=("shell",),
         purpose="A11: the whole process tree is ended", own=("<no output>",), own_without=("late",)),
    Case("run without a shell", [execute("true")], "F23 G18", NO_SHELL,
         backends=("state", "filesystem", "store", "composite")),
    # Calls.
    Case("call what is no tool", [("nosuch", {})], tokens=("Error: nosuch is not a valid tool", "ls, read_file, write_file")),
    Case("call without an argument", [("read_file", {})], tokens=bad_argument("read_file", "file_path")),
    # What leaves the conversation.
    Case("a result that stays", [execute("yes x | head -c 70000")], "I1", ("x\nx\nx", "exit code 0"), without=(EVICTED,),
         backends=("agent",)),
    Case("a result that is too large", [execute("seq -f 'line %05g of very many' 4000")], "I1 I2",
         (EVICTED + "call_0", "lines truncated", "1  line 00001 of", "5  line 00005 of"),
         without=("line 00006", "line 03990"), backends=("agent",)),
    Case("a result of long lines",
         [execute("for n in 1 2 3 4 5 6 7; do head -c 12000 /dev/zero | tr '\\0' $n; echo; done")], "I3",
         (EVICTED + "call_0", "1  " + "1" * 1000, "7  " + "7" * 1000), without=("1" * 1001, "truncated]"), backends=("agent",)),
    *[Case(f"a large result by {what}", [execute("yes x | head -c 90000")], line, (EVICTED + name,), ids=(given,),
           backends=("agent",))
      for what, line, given, name in [
          ("an id with a dot and a slash", "I4", "call.1/a", "call_1_a"),
          ("an id that climbs", "I5", "../a.b\\c", "___a_b_c"),
          ("an id of 128 bytes", "I6", "y" * 128, "y" * 128),
          ("an id of 129 bytes", "I6", "z" * 129, "call-"),
      ]],
    Case("a large result by a long id", [execute("yes x | head -c 90000")], "I7", ("z" * 32 + "...",), ids=("z" * 200,),
         without=("z" * 33,), backends=("agent",)),
    Case("a file that is read is not put away", [read("/a.txt", limit=200)], tokens=("0000",), without=(EVICTED,),
         disk={"a.txt": WIDE}, backends=("agent",)),
]

#: Section 11, line by line.
LINES = (
    "A1 A2 A3 A4 A5 A7 A8 A10 A13 A15 A16 A17 A18 A19 A20 A22 A23 A27 A28 A29 A31 A32 A35"
    " B1 B2 B3 B4 B5 B6 B8 B9 B11 B13 B15 B16 B17 B18 B19 B20 B22 B23 B25 B26 B27 B28"
    " C2 C3 C4 C5 C6 C10 C12 C13 C15 C16 C17 C18 C19 C21 C23"
    " D2 D3 D4 D5 D7 D11 D12 D14 D15 D16 D20"
    " E1 E2 E5 E6 E7 E8 E10 E11 E13 E15 E17 E18 E19 E20 E23 E25 E27 E28 E29 E32 E33 E34 E35"
    " F1 F7 F8 F10 F17 F18 F20 F22 F23"
    " G1 G2 G3 G5 G6 G7 G8 G9 G10 G11 G12 G13 G14 G17 G18 G19 G20"
    " H3 H4 H5 H6 H7 H10 H11 H12 H13 H14"
    " I1 I2 I3 I4 I5 I6 I7 I8 I9 I10"
    " J5 J7 J8 J10 J11 J13 J14 J15"
    " K2 K4 K9 K10 K11 K12 K17 K18 K19"
    " L2 L3 L4 L6 L8 L10 L11 L13 L15 L16 L20 L24 L26 L27"
)

#: The lines of section 11 that are not one call of a tool: what Bosun does, the choice where it differs, and a test that
#: holds it to that, where there is one.
ELSEWHERE = [
    ("A29", "A file that is kept as a list of lines is read.", "", "files_of_older_agents_are_read"),
    ("B19", "A change of such a file keeps it as a text.", "", "other_shapes_can_be_replaced"),
    ("B18", "An edit of bytes that are no text is an error.", "", "checks_come_in_order"),
    ("E32 E33 G17", "Whole files in and out, an answer for each in the order asked, each error with its path.", "A8",
     "transfers_keep_their_order"),
    ("E34", "There is no way to turn the project's boundary off; its own host paths are translated.", "A26",
     "host_paths_below_the_root_are_understood"),
    ("G8 G19", "Mounts lie at any prefix, on whole segments, and each keeps its own files.", "A25",
     "prefixes_are_whole_segments"),
    ("G20", "What is put away lies in mounts of the session.", "A25", "the_app_mounts_its_own"),
    ("H14", "A long output keeps both ends, and the whole goes into a file.", "A11", "the_whole_output_of_a_command_is_kept"),
    ("I8", "What is no text stays beside the stub.", "",
     "a_result_over_the_limit_goes_into_a_file_and_one_at_it_stays"),
    ("I9", "A result that can be put nowhere stays as it is.", "", "a_result_that_can_be_put_nowhere_stays"),
    ("I10", "A huge message is sent as head and tail and stays whole in the session.", "",
     "a_huge_message_is_sent_as_its_head_and_tail_and_stays_whole_in_the_session"),
    ("J5", "Results stand in call order, whatever was decided first.", "A13",
     "calls_of_a_step_run_side_by_side_and_their_results_stand_in_call_order"),
    ("J7 J8", "A decision that does not fit is an error and changes nothing.", "A13",
     "a_wrong_decision_changes_nothing_and_a_right_one_still_works"),
    ("J10", "Calls are told in the words that were set.", "", "what_is_asked_is_told_in_the_words_that_were_set"),
    ("J11", "A gate with no decision is an error when the agent is built.", "",
     "a_gate_through_which_nothing_can_pass_is_an_error"),
    ("J13 J15", "Each subagent asks for itself, in any order; nothing that ran runs again.", "A13",
     "a_subagent_asks_for_itself_and_goes_on_after_a_restart"),
    ("J14", "A call that was left open is answered before the model is asked again; a new message waits.", "A15",
     "patch_tool_calls_answers_what_was_left_open"),
    ("K2", "A subagent has its own prompt and tools, and may send others to a depth.", "A16",
     "a_subagent_has_its_own_prompt_tools_and_model"),
    ("K4", "A missing or an extra argument is named.", "", "everything_else_is_an_error"),
    ("K9", "Two subagents of one name are an error when the agent is built.", "",
     "a_subagent_may_be_an_agent_that_was_put_together_already"),
    ("K10", "An own general-purpose takes the place of the built-in.", "",
     "an_own_general_purpose_takes_the_place_of_the_built_in"),
    ("K11", "Two plans in one step are both refused.", "", "two_plans_in_one_step_are_both_refused"),
    ("K12", "A status that is none is named.", "", "limits_and_states_are_kept"),
    ("K17", "Results stand in call order.", "",
     "calls_of_a_step_run_side_by_side_and_their_results_stand_in_call_order"),
    ("K18", "A tool that fails is an error result.", "A8", "every_failure_inside_a_tool_is_an_error_result"),
    ("K19", "An unknown subagent or task is an error.", "A18", "what_is_wrong_is_an_error_for_the_model"),
    ("L2", "A summary stays for later turns.", "A21", "a_session_opened_again_sends_the_same_summary"),
    ("L3", "The next summary is one of the summary too.", "A21",
     "a_second_overflow_in_one_turn_makes_a_summary_of_the_summary"),
    ("L4", "A request that is too long is summed up and sent once more.", "A21",
     "a_request_that_is_too_long_is_summed_up_and_sent_once_more"),
    ("L6", "Long arguments of old calls are cut first.", "A21",
     "long_arguments_are_cut_before_anything_is_summed_up"),
    ("L8", "One message that is too long ends the turn with a way out.", "A21",
     "one_message_that_is_too_long_ends_the_turn_with_a_way_out"),
    ("L10", "Without memory there is no word of it.", "A19", "without_sources_there_is_no_word_of_memory"),
    ("L11 L13 L15", "Skills with faults are named, and the others work.", "A20",
     "broken_and_hostile_skills_are_named_and_the_rest_works"),
    ("L16", "A pinned skill stands whole in the prompt.", "", "a_pinned_skill_stands_whole_in_the_prompt"),
    ("L20", "The first rule that fits decides.", "", "the_first_rule_that_fits_decides"),
    ("L24", "A path that interrupts asks; others do not.", "", "a_path_that_interrupts_asks_whatever_else_is_allowed"),
    ("L26", "A picture is named to a model that takes none, and stays in the session.", "",
     "pictures_are_named_to_a_model_that_cannot_look_at_them"),
    ("L27", "Breakpoints of the cache stand behind what does not change.", "A22",
     "breakpoints_of_the_cache_and_the_same_bytes_before_them"),
]
