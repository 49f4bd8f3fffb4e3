use pretty_assertions::assert_eq;

use super::*;

fn runs(line: &str) -> Vec<String> {
    ScriptNames::of(line, "").paths
}

fn check(lines: &[(&str, &[&str])]) {
    for (line, expected) in lines {
        assert_eq!(runs(line), *expected, "{line}");
    }
}

#[test]
fn a_script_is_found_wherever_the_line_goes() {
    check(&[
        ("sh x.sh --fast", &["x.sh"]),
        ("cd tools && sh ../x.sh ../y.sh", &["x.sh"]),
        ("cd a; cd b; python3 -u run.py", &["a/b/run.py"]),
        ("(cd a && ./y) && sh deploy.sh", &["a/y", "deploy.sh"]),
        ("x=$(cd a; ./y) && sh 'my deploy.sh'", &["a/y", "my deploy.sh"]),
        ("cd /home/u/proj && sh x.sh", &["/home/u/proj/x.sh"]),
        ("cd .. && sh x.sh; sh /z.sh", &["/z.sh"]),
        ("cd \"$D\" && sh x.sh; cd; sh y.sh; cd -; sh z.sh; cd ~/a; sh v.sh; popd; sh w.sh", &[]),
        ("cd a && cd - && make", &[]),
    ]);
    assert_eq!(ScriptNames::of("cd .. && sh p/x.sh; cd / && sh ../y", "/home/p").paths, ["/home/p/x.sh", "/y"]);
}

#[test]
fn only_what_is_run_counts() {
    check(&[
        ("git add src/a.ts && cat deploy.sh && grep x main.py", &[]),
        ("awk '{print $1}' server.log > out.txt", &[]),
        ("awk -F: -f sum.awk data.csv; sed -nf x.sed y; sed -i.bak -e p z", &["sum.awk", "x.sed"]),
        ("python3 parse.py data/live.csv > out.txt 2>> log.txt", &["parse.py"]),
        ("python3 gen.py<in.txt", &["gen.py"]),
        ("python3 -c 'print(1)' a.txt; python3 -m pytest x.py; node -e 1 b.js; perl -lane 'p' c.pl", &[]),
        (
            "python3 -W ignore -Xdev x.py; bash -eo pipefail y.sh log; node --import tsx z.js",
            &["x.py", "y.sh", "tsx", "z.js"],
        ),
        ("sh -c true 1 2 3; sh evil.sh", &["evil.sh"]),
        ("bash -lc 'cd a && ./b.sh' 1; eval 'sh c.sh'; ./d", &["a/b.sh", "c.sh", "d"]),
        ("cat > x.sh <<'E'\nsh y.sh\nE\nbash <<E\nsh z.sh\nE\nsh < v.sh; sh $W", &["z.sh", "v.sh"]),
        ("deno run -A x.ts; bun run --watch y.ts; deno eval 1", &["x.ts", "package.json", "y.ts", "eval"]),
        (
            "python3.12 x.py; venv/bin/python y.py; java -cp a Main; Rscript z.R a",
            &["x.py", "venv/bin/python", "y.py", "Main", "z.R"],
        ),
        ("pwsh -NoProfile -File x.ps1 y", &["x.ps1"]),
        (". ./env.sh; source lib.sh x", &["env.sh", "lib.sh"]),
        ("A=1 ./deploy now; bin/x.sh", &["deploy", "bin/x.sh"]),
        (" ; A=1", &[]),
    ]);
}

#[test]
fn what_stands_in_front_of_a_command_does_not_hide_it() {
    check(&[
        ("timeout -k 5 60 sh x.sh", &["x.sh"]),
        ("env -u A B=1 nohup nice -n 5 python3 x.py", &["x.py"]),
        ("sudo -u u ./x; xargs -n 1 sh y.sh; time ! sh z.sh", &["x", "y.sh", "z.sh"]),
        ("if true; then sh x.sh; else { sh y.sh; }; fi", &["x.sh", "y.sh"]),
        ("find . -name a -exec sh x.sh {} \\;", &["x.sh"]),
        ("uv run --with rich x.py; uv run -m pytest; uv pip install y.py", &["x.py", "pip"]),
        ("npx tsx x.ts; npx vitest run y.ts", &["node_modules/.bin/tsx", "x.ts", "node_modules/.bin/vitest"]),
        ("bunx ./x.js; poetry run python y.py", &["x.js", "y.py"]),
    ]);
}

#[test]
fn what_a_program_goes_by_counts_where_it_is_told_to_look() {
    check(&[
        ("cd tools && make all", &["tools/GNUmakefile", "tools/makefile", "tools/Makefile"]),
        ("make all -C a --directory=b -f x.mk", &["a/b/x.mk"]),
        ("make -f x.mk -j4; sh y.sh", &["x.mk", "y.sh"]),
        ("npm --prefix ui test; npm run build --prefix=web", &["ui/package.json", "web/package.json"]),
        ("pnpm -C ui test; yarn --cwd web; npm test", &["ui/package.json", "web/package.json", "package.json"]),
        ("just -f a/justfile; rake", &["a/justfile", "Rakefile", "rakefile"]),
    ]);
}

#[test]
fn a_line_that_names_too_many_says_so() {
    let named = ScriptNames::of(&(0..300).map(|at| format!("sh {at}.sh;")).collect::<String>(), "");
    assert_eq!((named.paths.len(), named.has_more), (MOST, true));
    assert!(!ScriptNames::of(&"sh x.sh;".repeat(300), "").has_more);
    for deep in ["nice ", "eval ", "find -exec "] {
        let deep = format!("{}sh x.sh", deep.repeat(10_000));
        assert_eq!(ScriptNames::of(&deep, ""), ScriptNames { paths: Vec::new(), has_more: true });
    }
    let far = format!("{}sh x.sh", "cd a; ".repeat(20_000));
    assert_eq!(ScriptNames::of(&far, ""), ScriptNames { paths: Vec::new(), has_more: true });
    for line in ["cd $D; sh x.sh", "sh \"$X\"", "$X/y", "sh ../x.sh", "bash -c \"$X\"", "sh *.sh"] {
        assert_eq!(ScriptNames::of(line, ""), ScriptNames { paths: Vec::new(), has_more: true }, "{line}");
    }
    for line in ["cd $D; ls", "cat $X", "sh x.sh $Y > $Z", "echo $(date)", "$X y"] {
        assert!(!ScriptNames::of(line, "").has_more, "{line}");
    }
}
