use pretty_assertions::assert_eq;

use super::*;

fn read(line: &str) -> Result<Vec<String>, RuleGuard> {
    parts(line).map(|parts| parts.iter().map(|words| words.join("|")).collect())
}

fn guard(line: &str) -> Option<RuleGuard> {
    match parts(line) {
        Err(guard) => Some(guard),
        Ok(parts) => parts.iter().find_map(|words| guarded(words).err()),
    }
}

#[test]
fn plain_words_are_read_as_a_shell_reads_them() {
    assert_eq!(read("cargo  test -p auth"), Ok(vec!["cargo|test|-p|auth".into()]));
    assert_eq!(read("git commit -m 'two words' -m \"it's\""), Ok(vec!["git|commit|-m|two words|-m|it's".into()]));
    assert_eq!(read("a b && c; d || e | f\ng"), Ok(["a|b", "c", "d", "e", "f", "g"].map(String::from).to_vec()));
    assert_eq!(read("cargo test 2>&1 | tail -n 5"), Ok(vec!["cargo|test".into(), "tail|-n|5".into()]));
    assert_eq!(read("a ''"), Ok(vec!["a|".into()]));
    assert_eq!(read("git add 文件.md"), Ok(vec!["git|add|文件.md".into()]));
    assert_eq!(read("make all\n"), Ok(vec!["make|all".into()]));
}

#[test]
fn what_a_shell_would_change_is_never_read() {
    let shell = [
        "ls $(touch M)",
        "ls `touch M`",
        "ls <(touch M)",
        "ls >(touch M)",
        "ls ${x:=1}",
        "echo a > f",
        "echo a >> f",
        "ls & touch M",
        "ls 2>f",
        "ls 2>&2",
        "ls 2>&1x",
        "l\\s",
        "$'\\x6c'",
        "$\"ls\"",
        "\"$HOME\"",
        "'open",
        "ls *.rs",
        "ls ?",
        "ls {a,b}",
        "ls ~",
        "ls #x",
        "a;;b",
        "; a",
        "a &&",
        "a |",
        "",
        "  ",
        "!x",
        "(ls)",
        "[ -f x ]",
        "ls x[1]",
        "\"a\\b\"",
    ];
    for line in shell {
        assert_eq!(read(line), Err(RuleGuard::Shell), "{line:?}");
    }
    for line in ["ls\u{202e}", "ls \u{200b}x", "ls\r", "ls \u{7f}", "'a\u{1b}[2K'", "ls\0", "echo \u{ff0e}\u{2215}"] {
        assert_eq!(read(line), Err(RuleGuard::Hidden), "{line:?}");
    }
    assert_eq!(read(&"x ".repeat(9_000)), Err(RuleGuard::TooLong));
    assert_eq!(read(&"a;".repeat(60)), Err(RuleGuard::TooLong));
}

#[test]
fn what_runs_other_things_asks() {
    let runners = [
        "sh x.sh",
        "bash -c ls",
        "env ls",
        "xargs rm",
        "sudo ls",
        "find . -name x",
        "awk x",
        "ssh host",
        "./sh x",
        "Sudo ls",
    ];
    for line in runners {
        assert!(matches!(guard(line), Some(RuleGuard::RunsOther { .. })), "{line}");
    }
    for line in
        ["eval ls", ". x", "source x", "exec ls", "X=1 ls", "PAGER=x git log", "time ls", "alias a=b", "set -- x"]
    {
        assert_eq!(guard(line), Some(RuleGuard::Shell), "{line}");
    }
    let options = [
        "go test -exec ./x",
        "cargo test --config x.toml",
        "tar --to-command=x",
        "git log --output=f",
        "git fetch --upload-pack=x",
    ];
    for line in options {
        assert!(matches!(guard(line), Some(RuleGuard::Option { .. })), "{line}");
    }
    assert_eq!(guard("ｌｓ -l"), Some(RuleGuard::Hidden));
}

#[test]
fn what_leaves_the_project_or_takes_away_for_good_asks() {
    let outside = [
        "cat /etc/passwd",
        "cat ../x",
        "cat a/../../x",
        "cat ~root",
        "/bin/ls",
        "gcc -I/usr/include",
        "x --dir=/tmp",
        "x -C ..",
        "x a:/etc",
        "curl https://x.example",
        "x C:/a",
        "x --d=..",
        "cp a,/b",
    ];
    for line in outside {
        let guard = guard(line);
        assert!(matches!(guard, Some(RuleGuard::Outside | RuleGuard::Shell)), "{line}: {guard:?}");
    }
    let destructive = [
        "rm -rf target",
        "rm -fr x",
        "rm --recursive x",
        "git push --force",
        "git push origin +main",
        "git push origin :x",
        "git push --force-with-lease",
        "git reset --hard",
        "git clean -fd",
        "git -c core.pager=x log",
        "git branch -D x",
        "git stash drop",
        "git rebase main",
        "git commit --amend",
        "git config x y",
        "git checkout -- .",
        "git submodule foreach x",
        "dd if=x",
        "mkfs.ext4 x",
        "chmod -R 777 x",
        "kill 1",
        "git filter-branch x",
    ];
    for line in destructive {
        assert!(matches!(guard(line), Some(RuleGuard::Destructive { .. })), "{line}");
    }
    let fine = [
        "cargo test",
        "git status",
        "git push",
        "git reset",
        "git commit -m x",
        "npm run build",
        "rm x.txt",
        "./gradlew test",
        "ls -la src",
        "pytest tests/a.py::test_b",
        "git log --oneline",
        "make -j4",
    ];
    for line in fine {
        assert_eq!(guard(line), None, "{line}");
    }
}

#[test]
fn words_are_written_so_that_they_read_the_same() {
    for line in ["cargo test -p a", "git commit -m 'two words'", "echo \"it's\"", "a ''"] {
        let words = parts(line).unwrap().remove(0);
        assert_eq!(parts(&written(&words)).unwrap(), vec![words], "{line}");
    }
}
