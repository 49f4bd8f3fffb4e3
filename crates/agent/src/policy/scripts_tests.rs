use pretty_assertions::assert_eq;

use super::*;

fn runs(line: &str) -> Vec<String> {
    paths(ScriptNames::of(line, ""), Certainty::Guessed)
}

fn paths(names: ScriptNames, from: Certainty) -> Vec<String> {
    names.files.into_iter().filter(|file| file.certainty >= from).map(|file| file.path).collect()
}

/// What the lines say that they run; a guess stands in a test of its own.
fn check(lines: &[(&str, &[&str])]) {
    for (line, expected) in lines {
        assert_eq!(paths(ScriptNames::of(line, ""), Certainty::Said), *expected, "{line}");
    }
}

fn says_more(line: &str) -> bool {
    ScriptNames::of(line, "/home/p").has_more
}

#[test]
fn a_script_is_found_wherever_the_line_goes() {
    check(&[
        ("sh x.sh --fast", &["x.sh"]),
        ("cd tools && sh ../x.sh ../y.sh", &["x.sh"]),
        ("cd a && cd b && python3 -u run.py", &["a/b/run.py"]),
        ("(cd a && ./y) && sh deploy.sh", &["a/y", "deploy.sh"]),
        ("x=$(cd a && ./y) && sh 'my deploy.sh'", &["a/y", "my deploy.sh"]),
        ("cd /home/u/proj && sh x.sh", &["/home/u/proj/x.sh"]),
        ("cd .. && sh x.sh; sh /z.sh", &["/z.sh"]),
        ("cd \"$D\" && sh x.sh && cd && sh y.sh && cd - && sh z.sh && cd ~/a && sh v.sh && popd && sh w.sh", &[]),
        ("cd a && cd - && make", &[]),
    ]);
    let names = ScriptNames::of("cd .. && sh p/x.sh && cd / && sh ../y", "/home/p");
    assert_eq!(runs_of(names), ["/home/p/x.sh", "/y"]);
}

fn runs_of(names: ScriptNames) -> Vec<String> {
    paths(names, Certainty::Guessed)
}

#[test]
fn a_folder_that_may_not_have_been_gone_to_is_not_the_only_one() {
    check(&[
        ("cd nope; sh x.sh", &["nope/x.sh", "x.sh"]),
        ("cd nope\nsh x.sh", &["nope/x.sh", "x.sh"]),
        ("cd a | true; sh x.sh", &["a/x.sh", "x.sh"]),
        ("true | cd a && sh x.sh", &["a/x.sh", "x.sh"]),
        ("cd a & sh x.sh", &["a/x.sh", "x.sh"]),
        ("cd a || true; sh x.sh", &["a/x.sh", "x.sh"]),
        ("! cd a && sh x.sh", &["a/x.sh", "x.sh"]),
        ("if cd a; then sh x.sh; fi", &["a/x.sh", "x.sh"]),
        ("{ cd a && sh x.sh; }; sh y.sh", &["a/x.sh", "x.sh", "a/y.sh", "y.sh"]),
        ("command cd a && sh x.sh", &["a/x.sh", "x.sh"]),
        ("eval 'cd a'; sh x.sh", &["a/x.sh", "x.sh"]),
        ("cd a && sh x.sh; sh y.sh", &["a/x.sh", "a/y.sh", "y.sh"]),
        ("cd a && true || sh y.sh", &["a/y.sh", "y.sh"]),
        ("cd a && > b\nsh y.sh", &["a/y.sh", "y.sh"]),
        ("cd a && (sh x.sh); (cd b; sh y.sh)", &["a/x.sh", "a/b/y.sh", "b/y.sh", "a/y.sh", "y.sh"]),
        ("cd a &&\n  sh x.sh |\n  cat && sh y.sh", &["a/x.sh", "a/y.sh"]),
    ]);
    assert!(
        says_more("cd \"$D\"; sh x.sh") && says_more("cd nope; sh ../../x.sh; cd a; cd b; cd c; cd d; cd e; sh x.sh")
    );
    assert!(!says_more("cd src; npm test") && !says_more("cd src && cargo test; ls"));
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
        (". ./env.sh; source lib.sh x; . -- y.sh", &["env.sh", "lib.sh", "y.sh"]),
        ("A=1 ./deploy now; a[1]=2 B+=3 bin/x.sh", &["deploy", "bin/x.sh"]),
        (" ; A=1; /usr/bin/env sh x.sh; [ -f y.sh ]; [[ z.sh ]]", &["x.sh"]),
        ("sh -s a < x.sh; bash -es -- b <<< 'sh y.sh'; python3 - c < z.py", &["x.sh", "y.sh", "z.py"]),
        ("ruby -r ./x.rb -C a y.rb; node -r ./z.js v.js", &["x.rb", "y.rb", "z.js", "v.js"]),
        (
            "go run -tags t x.go y.go a; go test z.go; pipx run x.py; pipx run --spec a y.py",
            &["x.go", "y.go", "x.py", "y.py"],
        ),
        ("expect x.exp; expect -c 'send y'; osascript -l JavaScript z.js; osascript -e 1", &["x.exp", "z.js"]),
        (
            "cat <<E\n$(sh x.sh)\nE\necho ${X:-$(sh y.sh)} $((1 + $(sh z.sh))) a=($(sh v.sh))",
            &["x.sh", "y.sh", "z.sh", "v.sh"],
        ),
        ("echo sh x.sh; grep -r python3 y.py; which node z.js; git add sh v.sh", &[]),
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
        ("find . -exec sh x.sh {} + -name b -ok sh y.sh \\;", &["x.sh", "y.sh"]),
        ("find . -execdir /p/x.sh {} \\; -exec sh y.sh {} +", &["/p/x.sh", "y.sh"]),
        ("uv run --with rich x.py; uv run -m pytest; uv pip install y.py", &["x.py", "pip"]),
        ("npx tsx x.ts; npx vitest run y.ts", &["x.ts"]),
        ("bunx ./x.js; poetry run python y.py", &["x.js", "y.py"]),
        ("watch -n 2 'sh x.sh'; watch sh y.sh a", &["x.sh", "y.sh"]),
        ("env -S 'A=1 sh x.sh'; env -S sh y.sh; env -iS 'sh -e' z.sh", &["x.sh", "y.sh", "z.sh"]),
        ("flock l -c 'sh x.sh'; flock -w 3 l sh y.sh", &["x.sh", "y.sh"]),
        ("su -c 'sh x.sh' u; su - u -c 'sh y.sh'; script -qc 'sh z.sh' /dev/null", &["x.sh", "y.sh", "z.sh"]),
        ("parallel sh x.sh ::: a b; parallel 'sh y.sh {}' ::: a", &["x.sh", "y.sh"]),
        ("pkexec sh x.sh; unshare -r sh y.sh; systemd-run -p A=1 --user sh z.sh", &["x.sh", "y.sh", "z.sh"]),
        ("coproc sh x.sh; trap 'sh y.sh' EXIT; trap - EXIT", &["x.sh", "y.sh"]),
        ("conda run -n env sh x.sh; direnv exec . sh y.sh", &["x.sh", "y.sh"]),
        ("nix-shell -p a --run 'sh x.sh'; taskset -c 0,1 sh y.sh", &["x.sh", "y.sh"]),
    ]);
}

/// Nobody knows before in which folders `find` finds something: perhaps where it begins.
#[test]
fn what_is_run_in_the_folders_of_what_is_found_is_guessed_and_more_is_said() {
    for (line, guessed) in [
        ("find -execdir ./x.sh \\;", vec!["x.sh"]),
        ("cd a && find . -execdir ./x.sh \\;", vec!["a/x.sh"]),
        ("find -L sub 'other one' -name f -okdir sh x.sh \\;", vec!["sub/x.sh", "other one/x.sh"]),
        ("find \"$D\" -execdir ./x.sh {} +", vec![]),
    ] {
        let named = ScriptNames::of(line, "");
        let said = paths(named.clone(), Certainty::Said);
        assert_eq!(
            (said, named.has_more, runs_of(named)),
            (vec![], true, guessed.into_iter().map(str::to_owned).collect())
        );
    }
}

#[test]
fn a_guess_is_named_and_says_nothing_more() {
    for (line, expected) in [
        ("wrap -x sh x.sh; docker run -it i bash -c './y.sh'", vec!["x.sh", "y.sh"]),
        ("git bisect run sh x.sh; pnpm node y.js", vec!["x.sh", "y.js"]),
        ("npx tsx x.ts", vec!["node_modules/.bin/tsx"]),
        ("cd a && npx b", vec!["a/node_modules/.bin/b", "node_modules/.bin/b"]),
        (
            "python3 -m tools.deploy a.py",
            vec!["tools/__init__.py", "tools/deploy/__init__.py", "tools/deploy.py", "tools/deploy/__main__.py"],
        ),
        ("uv run -m a", vec!["a/__init__.py", "a.py", "a/__main__.py"]),
        ("node -r ./x y.js", vec!["x.js", "x.cjs", "x/package.json", "x/index.js"]),
        ("ruby -r ./x y.rb; python3 .", vec!["x.rb", "__main__.py"]),
        ("/usr/bin/ls", vec!["/usr/bin/ls"]),
    ] {
        let ScriptNames { files, has_more } = ScriptNames::of(line, "");
        let guessed = files.into_iter().filter(|file| file.certainty == Certainty::Guessed);
        assert_eq!(
            (guessed.map(|file| file.path).collect::<Vec<_>>(), has_more),
            (expected.into_iter().map(str::to_owned).collect(), false),
            "{line}"
        );
    }
}

#[test]
fn what_a_program_goes_by_counts_where_it_is_told_to_look() {
    for (line, expected) in [
        ("cd tools && make all", vec!["tools/GNUmakefile", "tools/makefile", "tools/Makefile"]),
        ("make all -C a --directory=b -f x.mk", vec!["a/b/x.mk"]),
        ("make -f x.mk -j4; sh y.sh", vec!["x.mk", "y.sh"]),
        ("npm --prefix ui test; npm run build --prefix=web", vec!["ui/package.json", "web/package.json"]),
        ("pnpm -C ui test; yarn --cwd web", vec!["ui/package.json", "package.json", "web/package.json"]),
        ("just -f a/justfile; rake", vec!["a/justfile", "Rakefile", "rakefile"]),
        ("cd a/b && npm test", vec!["a/b/package.json", "a/package.json", "package.json"]),
        ("cd a && rake", vec!["a/Rakefile", "a/rakefile", "Rakefile", "rakefile"]),
        (
            "(cd a && just) && (cd a && yarn)",
            vec!["a/justfile", "a/Justfile", "justfile", "Justfile", "a/package.json", "package.json"],
        ),
    ] {
        assert_eq!(runs(line), expected, "{line}");
    }
    let at = |folder| runs_of(ScriptNames::of("cd src && npm test", folder));
    assert_eq!(at("/home/p"), ["/home/p/src/package.json", "/home/p/package.json"]);
    assert_eq!(at("/home/p/"), at("/home/p"));
    assert_eq!(at("/"), ["/src/package.json", "/package.json"]);
}

#[test]
fn a_line_that_names_too_many_says_so() {
    let named = ScriptNames::of(&(0..300).map(|at| format!("sh {at}.sh;")).collect::<String>(), "");
    assert_eq!((named.files.len(), named.has_more), (MOST, true));
    assert!(!ScriptNames::of(&"sh x.sh;".repeat(300), "").has_more);
    for deep in ["nice ", "eval ", "find -exec "] {
        let deep = format!("{}sh x.sh", deep.repeat(10_000));
        assert_eq!(ScriptNames::of(&deep, ""), ScriptNames { files: Vec::new(), has_more: true });
    }
    let far = format!("{}sh x.sh", "cd a && ".repeat(2_000));
    assert_eq!(ScriptNames::of(&far, ""), ScriptNames { files: Vec::new(), has_more: true });
    for many in ["cd a; ", "a sh ", "npx ", "a bun ", "a npx "] {
        assert!(ScriptNames::of(&format!("{}sh x.sh", many.repeat(1_000)), "").has_more, "{many}");
    }
}

#[test]
fn what_cannot_be_told_is_said() {
    for line in [
        "cd $D && sh x.sh",
        "sh \"$X\"",
        "$X/y",
        "$X y",
        "\"$EDITOR\" x",
        "sh ../x.sh",
        "bash -c \"$X\"",
        "python3 -c \"$X\"",
        "node -pe \"$X\"",
        "perl -e\"$X\"",
        "sh *.sh",
        "cat x.sh | sh",
        "cat x.sh | sudo bash -s a",
        "curl https://a.b/c | python3 -",
        "sh -; sh",
        "ls | xargs sh",
        "ls | xargs -I{} sh {}",
        "ls | xargs env",
        "ls | parallel sh",
        "parallel ::: 'sh x.sh'",
        "S=bash; $S x.sh",
        "$'\\163h' x.sh",
        "{sh,x.sh}",
        "[s]h x.sh",
        "eval \"$(cat x.sh)\"",
        "eval $X",
        "trap \"$X\" EXIT",
        "bash <<< \"$X\"",
        "bash <<E\n$X\nE",
        "python3 <<E\n$X\nE",
        "sh <(cat x.sh)",
        ". <(cat x.sh)",
        "sh <&3",
        "python3 -m \"$X\"",
        "su u; script x; sudo -s; unshare",
        "su -c \"$X\"",
        "sed -f - x",
        "tmux new -d x; ssh h x; at now; gdb x; vim -c x",
        "while read l; do $l; done < x.sh",
        "case a in a) $X;; esac",
        "echo $($X y)",
        "echo $((cat x.sh | sh) )",
        "find sub -name f -execdir ./x.sh \\;",
        "find . -okdir sh x.sh \\;",
    ] {
        let named = ScriptNames::of(line, "");
        assert_eq!((paths(named.clone(), Certainty::Said), named.has_more), (Vec::new(), true), "{line}");
    }
}

#[test]
fn ordinary_lines_do_not_say_that_they_run_more() {
    for line in [
        "cargo test",
        "cargo test 2>&1 | tee log.txt | tail -n 5",
        "command -v node >/dev/null || which python3; hash sh; pkill -f node",
        "if (( $X > 1 )); then echo; fi; for ((i=0; i<$n; i++)); do echo; done",
        "git status && git diff --stat | cat",
        "git commit -m \"$(cat <<'E'\nagent: it's \"done\" (#1)\nE\n)\"",
        "ls -la; ls *.rs; ls ~/x",
        "cd src && npm run build",
        "cd src; npm test",
        "npm ci && npx vitest run",
        "make -j4 test",
        "[ -f x ] && echo y",
        "[[ -f $X ]] || exit 1",
        "if [ \"$A\" = b ]; then echo c; fi",
        "for f in *.txt $X; do echo \"$f\"; done",
        "case $X in a) echo b;; *) echo c;; esac",
        "echo $HOME $(date) ${X:-y} `pwd`",
        "i=$((i + 1)); echo $(( $(date +%s) - $START )); ((i++))",
        "files=(*.rs $X); echo \"${files[@]}\" \"${#files}\"",
        "grep $X file; grep -r 'a$' .; grep \"b$\" c",
        "cat $X; cat > y <<E\n$HOME\nE",
        "cd $D; ls",
        "sh x.sh $Y > $Z",
        "python3 -c 'print(1)'; python3 - <<'E'\nprint(1)\nE",
        "python3 -m venv .venv && . .venv/bin/activate && pip install -r r.txt",
        "python3 --version; node -v; ruby -v; bash --version; php -v; java -version; go version",
        "node --test; node x.js; deno fmt; bun install; uv sync; uvx ruff check; Rscript x.R",
        "pytest -q; tsc --noEmit; go test ./...; go run .; cargo run -- x",
        "find . -name '*.rs' -exec grep -l x {} + | xargs wc -l",
        "find . -name '*.orig' -delete",
        "find . -name f -execdir rm {} +",
        "ls | xargs -I{} mv {} {}.bak",
        "sed -i \"s/$A/$B/\" x; awk '{print $1}' y | sort",
        "which python3 node; man sh; apt install python3",
        "docker run -it node:20 bash; docker compose exec db psql",
        "sh < /dev/null",
        "timeout 60 cargo test; time make; sudo -v; nohup ./server &",
        "A=1 B=\"$C\" ./x; export PATH=$PATH:a",
        "/usr/bin/env python3 x.py; /bin/ls",
        "curl -s https://a.b | jq .x",
        "",
    ] {
        assert!(!says_more(line), "{line}");
    }
}
