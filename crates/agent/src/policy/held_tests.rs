use super::*;

/// What agents and people run all day.
const ORDINARY: &str = r##"
ls -la
ls -R src | head -50
cat README.md
cat .npmrc
cat .github/workflows/ci.yml
head -n 40 src/main.rs
tail -n 100 -f log/dev.log
wc -l src/*.rs
tree -I '.git|target' -L 2
find . -name '*.ts' -not -path './node_modules/*'
find . -not -path './.git/*' -type f
find . -name '*.py' -exec grep -l TODO {} +
grep -rn "unlink" src
grep -rn "'/api" src
grep -rn foo --exclude-dir=.git .
grep -n 'rm -rf' scripts/*.sh
rg truncate
rg -n "delete from" --glob '!.git'
rg --files | rg test
sed -n '10,40p' src/lib.rs
sed -n '/fn main/,/^}/p' src/main.rs
sed -i 's/foo/bar/g' src/lib.rs
awk '{print $1}' data.csv | sort | uniq -c
awk '/foo/ {n++} END {print n}' f
cut -d/ -f2 paths.txt
tr / _ < names.txt
sort -u names.txt > sorted.txt
diff -u a.txt b.txt
xargs -n1 echo < list.txt
jq '.dependencies' package.json
echo "rm"
echo "a > b" >> notes.md
printf '%s\n' one two
mkdir -p build/out
touch src/new.rs
cp a.txt b.txt
mv old.rs new.rs
ln -s ../shared shared
chmod +x run.sh
tar czf out.tgz src
tar --exclude=.git -czf out.tgz .
unzip -o data.zip -d data
du -sh * | sort -h
df -h
pwd; whoami; date
env | grep PATH
which cargo node python3
cargo build
cargo build --release 2>&1 | tail -20
cargo test
cargo test truncate
cargo test -- --nocapture 2>&1 | grep FAILED
cargo test > /tmp/out.txt 2>&1; tail /tmp/out.txt
cargo clippy --all-targets -- -D warnings
cargo fmt --all
cargo run -- --help
cargo tree -d
RUST_LOG=debug cargo run
RUST_BACKTRACE=1 cargo test parser
npm ci
npm install lodash
npm run build
npm run format > log
npm test -- --watch=false
npm start & sleep 3; curl -s http://localhost:3000/health; kill $!
npx tsc --noEmit
npx eslint src --fix
npx prettier --check .
npx vitest run src/a.test.ts
yarn build
pnpm -r test
node script.js
node -e "console.log(require('./package.json').version)"
python3 tool.py --input a.json
python3 -m pytest -q
python3 -m pytest tests/test_x.py::test_y -x
python3 -m venv .venv && . .venv/bin/activate && pip install -r requirements.txt
python3 -c "con = sqlite3.connect('x.db')"
python3 -c "import json; print(json.load(open('a.json'))['x'])"
pip list --outdated
pytest -k 'not slow'
ruff check . --fix
mypy src
go build ./...
go test ./... -run TestParse
go vet ./...
gofmt -w .
make
make -j4 test
make 2>/dev/null
cmake -B build && cmake --build build
gcc -c aux.c
g++ -O2 -o main main.cpp && ./main
./gradlew test
mvn -q package
dotnet test
bundle exec rspec
php artisan migrate
swift build
zig build test
git status
git status --short
git diff
git --no-pager diff HEAD~1
git -C crates/x status
git diff --stat main...HEAD
git log --oneline -20
git log --all --grep='remove the rm'
git show HEAD:src/lib.rs
git blame -L 10,20 src/lib.rs
git add -A
git add .github/workflows/ci.yml
git commit -m "Add /login route"
git commit -m "Truncate long names"
git commit -m "explain .git hooks"
git commit -m "remove rm -rf from $SCRIPT"
git checkout -b feature/login
git checkout main
git switch -c fix
git branch -a
git branch --show-current
git stash
git stash list
git fetch origin
git pull --ff-only
git merge main
git cherry-pick abc123
git tag -l
git remote -v
git rev-parse HEAD
git ls-files | wc -l
git init demo
cd crates/x && cargo test && cd ../..
cd src && ls
for f in *; do cat $f; done
for d in crates/*; do ls "$d"/src; done
for i in 1 2 3; do echo $i; done
while read -r line; do echo "$line"; done < list.txt
if [ -f a.txt ]; then cat a.txt; fi
[ -d build ] || mkdir build
test -f Cargo.toml && echo yes
ls ${d}/src
ls $(pwd)/x
export NODE_ENV=test; npm test
X=1 Y=2 ./run.sh
time cargo build
timeout 60 cargo test
watch -n 2 ls
seq 1 10 | xargs -I{} echo item {}
docker compose ps
sqlite3 dev.db '.tables'
sqlite3 dev.db "select * from users limit 5"
psql -c 'select 1'
openssl rand -hex 16
base64 a.bin > a.txt
curl http://localhost:3000
ps aux | grep node
kill 1234
lsof -i :3000
free -h
"##;

/// Of more than one line, each with a text to read.
const TEXTS: &[&str] = &[
    "cat > src/a.js <<'EOF'\n// rm -rf is a comment\nimport x from '../lib'\nconst y = a / b\nEOF",
    "cat <<EOF > page.html\n<div></div>\nEOF",
    "python3 - <<'EOF'\nimport os\nd = {}\nd['a'] = 1\ndel d['a']\nprint(format(3, 'x'), os.getcwd())\nEOF",
];

#[test]
fn ordinary_commands_are_not_asked_about() {
    let lines: Vec<&str> = ORDINARY.lines().filter(|line| !line.is_empty()).chain(TEXTS.iter().copied()).collect();
    let asked: Vec<_> = lines.iter().filter(|line| arming(line).is_some() || deleting(line).is_some()).collect();
    assert!(lines.len() >= 150, "{}", lines.len());
    assert_eq!(asked, Vec::<&&str>::new(), "security.md S28 lets one in twenty ask");
}

#[test]
fn what_takes_files_away_is_told_however_a_shell_hides_it() {
    for line in [
        "rm .env",
        "rm -rf src",
        "rm -f data.sqlite; echo $x",
        "/bin/rm x",
        "sudo rm x",
        "env X=1 rm x",
        "busybox rm x",
        "timeout 5 rm x",
        "time rm x",
        "ls; git clean -fdx",
        "if true; then rm x; fi",
        "for f in *; do rm $f; done",
        "(shred a)",
        "{ rm a; }",
        "echo $(rm -rf x)",
        "echo `rm -rf x`",
        "echo \"$(rm x)\"",
        "cat <(rm x)",
        "r\\m -rf src; echo $x",
        "r\\\nm -rf src",
        "r''m src; echo $x",
        "\"rm\" x",
        "x=rm; $x -rf src",
        "x='rm -rf src'; eval $x",
        "eval \"rm -r y\"",
        "sh -c 'rm -rf .'",
        "bash -c \"sh -c 'r''m x'\"",
        "sh <<EOF\nrm x\nEOF",
        "bash <<< 'rm x'",
        "trap 'rm x' EXIT",
        "find . -delete",
        "find . -exec rm {} +",
        "find . -type f | xargs rm",
        "git clean -fdx",
        "git reset --hard",
        "git -C sub reset --hard",
        "git checkout -qf main",
        "git checkout -- a",
        "git branch -Df x",
        "git tag -df v1",
        "git read-tree --reset -u HEAD",
        "sh -c 'git reset --hard'",
        "rsync -a --del e/ data/",
        "rsync -a --delete-after e/ data/",
        "tar --remove-files -cf a.tar a",
        "truncate -s0 a",
        "dd if=/dev/zero of=a",
        "npx rimraf data",
        "python3 -c \"import shutil; shutil.rmtree('data')\"",
        "python3 - <<'EOF'\nimport os\nos.remove('a')\nEOF",
        "node -e \"fs.rmSync('data')\"",
        "ruby -e 'FileUtils.rm_rf(\"x\")'",
        "perl -e 'unlink q(a)'",
        "python3 -c \"from pathlib import Path; Path('a').unlink()\"",
        "node -e \"fs.promises.rm('a')\"",
    ] {
        assert!(deleting(line).is_some(), "{line}");
    }
    assert_eq!(deleting("ls && rm -f 'a b'"), Some("rm -f 'a b'".into()));
    let deep = format!("{}rm x", "sh -c ".repeat(5));
    assert!(deleting(&deep).is_some());
}

#[test]
fn more_texts_within_texts_than_are_looked_into_ask() {
    let nested = (0..12).fold("rm x".to_owned(), |line, _| format!("sh -c {}", shell_words(&line)));
    assert!(deleting(&nested).is_some());
}

/// A line as one word of another.
fn shell_words(line: &str) -> String {
    format!("'{}'", line.replace('\'', "'\\''"))
}

#[test]
fn names_that_run_later_are_told_where_more_than_reading_may_be_done() {
    for (line, name) in [
        ("echo x > sub/.envrc", "sub/.envrc"),
        ("echo x >> sub/.envrc", "sub/.envrc"),
        ("cat <<E > sub/.envrc\nx\nE", "sub/.envrc"),
        ("mkdir -p sub/.husky && cp a sub/.husky/pre-commit", "sub/.husky"),
        ("git init sub && cp a sub/.git/hooks/post-commit", "sub/.git/hooks/post-commit"),
        ("cd sub/.git/hooks && cp x post-commit", "sub/.git/hooks"),
        ("tee sub/.envrc < a", "sub/.envrc"),
        ("uniq a sub/.envrc", "sub/.envrc"),
        ("git diff --no-index --output=sub/.envrc x y", "--output=sub/.envrc"),
        ("find . -fls sub/.envrc", "sub/.envrc"),
        ("sh -c 'echo x > sub/.envrc'", "sub/.envrc"),
        ("python3 -c \"open('sub/.envrc', 'w').write('x')\"", "sub/.envrc"),
        ("find . -name x -exec cp {} sub/.husky/x ;", "sub/.husky/x"),
        ("install --target-directory=sub/.git/hooks x", "--target-directory=sub/.git/hooks"),
    ] {
        assert_eq!(arming(line).as_deref(), Some(name), "{line}");
    }
    for line in ["cat sub/.envrc", "git add sub/.envrc", "ls .git", "cp -r --exclude .git a b", "gcc -c con.c"] {
        assert_eq!(arming(line), None, "{line}");
    }
}
