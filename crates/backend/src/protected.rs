//! Names that configure programs or are run later by themselves. What writes them is asked about whatever else is
//! allowed, and a command in the sandbox cannot change them, nor make them at the top of the project. `.git` is known beside these, by its parts.

/// Folders: everything in one is as protected as itself, wherever it is.
pub const PROTECTED_FOLDERS: [&str; 6] = [".bosun", ".agents", ".claude", ".husky", ".idea", ".vscode"];

/// Folders that are protected in one other only.
pub const PROTECTED_INSIDE: [(&str, &str); 1] = [(".github", "workflows")];

/// Files, wherever they are.
pub const PROTECTED_FILES: [&str; 12] = [
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zprofile",
    ".zshenv",
    ".envrc",
    ".gitmodules",
    ".gitattributes",
    ".gitlab-ci.yml",
    ".npmrc",
    ".mcp.json",
];
