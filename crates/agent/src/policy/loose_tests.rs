use pretty_assertions::assert_eq;

use super::*;
use crate::policy::command;

/// The parts as one line: words joined, what a shell changes marked, what is read behind `<`.
fn all(line: &str) -> Vec<String> {
    let word = |word: &Word| format!("{}{}", word.text, if word.is_changed { "?" } else { "" });
    let shown = |piece: Piece| match piece {
        Piece::Open => "(".to_owned(),
        Piece::Close => ")".to_owned(),
        Piece::Unread => "…".to_owned(),
        Piece::Join(join) => match join {
            Join::Then => ";".to_owned(),
            Join::And => "&&".to_owned(),
            Join::Or => "||".to_owned(),
            Join::Pipe => "|".to_owned(),
            Join::Beside => "&".to_owned(),
        },
        Piece::Command(Command { words, input, .. }) => {
            let words = words.iter().map(word).collect::<Vec<_>>().join("|");
            match input {
                None => words,
                Some(Input::File(file)) => format!("{words} < {}", word(&file)),
                Some(Input::Text(text)) => format!("{words} << {}", word(&text)),
            }
        }
    };
    pieces(line).into_iter().map(shown).collect()
}

/// The same without the joins.
fn read(line: &str) -> Vec<String> {
    all(line).into_iter().filter(|piece| ![";", "&&", "||", "|", "&"].contains(&piece.as_str())).collect()
}

#[test]
fn quotes_brackets_and_what_a_shell_changes() {
    assert_eq!(read("(cd 'a b'; x) && y\\ z \"q\\\"r\""), ["(", "cd|a b", "x", ")", "y z|q\"r"]);
    assert_eq!(read("a $(b \"$(c)\" d)/e `f g`"), ["(", "(", "c", ")", "b|?|d", ")", "(", "f|g", ")", "a|/e?|?"]);
    assert_eq!(read("a ${B:-c d} *.x ~/y {1,2} { z; }"), ["a|?|*.x?|~/y?|{1,2}?|{|z", "}"]);
    assert_eq!(read("a # b; c\nd & e | f \"g; $H\""), ["a", "d", "e", "f|g; H?"]);
    assert_eq!(read("a; b) c 'd"), ["a", "b", "c|d"]);
    assert_eq!(read("[ -f x ] && [[ y ]]; [ab] *"), ["[|-f|x|]", "[[|y|]]", "[ab]?|*?"]);
    assert_eq!(read("a $'b c' $'d\\'e' $\"f\" \"g$\" h$ $/i"), ["a|b c|de?|f|g$|h$|$/i"]);
    assert_eq!(read("case $X in *) a;; $Y) b;; esac"), ["case|X?|in|*?", "a", "b", "esac"]);
}

#[test]
fn what_stands_in_the_place_of_a_value_is_read() {
    assert_eq!(read("a ${X:-$(b c)} d"), ["(", "b|c", ")", "a|?|d"]);
    assert_eq!(read("a \"${X:-'$(b)'}\" ${Y:-'$(no)'} e"), ["(", "b", ")", "a|?|?|e"]);
    assert_eq!(read("a ${X:-${Y:-'}'}}; b '"), ["a|?", "b|"]);
    assert_eq!(read("a=(b $(c) 'd') e; f"), ["(", "c", ")", "a=|e", "f"]);
    assert_eq!(read("a $((1 + $(b))) c; ((d++)); e"), ["(", "b", ")", "a|?|c", "e"]);
    assert_eq!(read("a $((b c); d)"), ["(", "(", "b|c", ")", "d", ")", "a|?"]);
}

#[test]
fn what_is_redirected_is_no_argument() {
    assert_eq!(read("a b > c 2>&1 d >>e &> f 2>/dev/null"), ["a|b|d"]);
    assert_eq!(read("a < b; c <<< 'd e'; f <(g h) i"), ["a < b", "c << d e", "(", "g|h", ")", "f|?|i"]);
    let texts = "cat > x <<'E' && sh <<-F | y\n$(no)\nE\n  sh x\n\tF\nz";
    assert_eq!(read(texts), ["cat << $(no)\n", "sh <<   sh x\n", "y", "z"]);
    assert_eq!(
        read("cat <<E\n\"$(a b)\" '`c`' \\$(no)\nE\nd"),
        ["(", "a|b", ")", "(", "c", ")", "cat << \"\" '' $(no)\n?", "d"]
    );
    assert_eq!(read("cat <<'E F' \"x\"\n$(no)\nE F\nd"), ["cat|x << $(no)\n", "d"]);
}

#[test]
fn how_commands_are_joined() {
    assert_eq!(
        all("a && b || c | d |& e & f; g\nh"),
        ["a", "&&", "b", "||", "c", "|", "d", "|", "e", "&", "f", ";", "g", ";", "h"]
    );
    assert_eq!(all("a &&\n\n b\n\nc && > d\ne &> f"), ["a", "&&", "b", ";", "c", "&&", ";", "e"]);
    assert_eq!(all("(a; b) && c"), ["(", "a", ";", "b", ")", "&&", "c"]);
}

/// What a standing rule can read, it and the loose reader read alike.
#[test]
fn plain_lines_are_read_alike() {
    for line in ["a b; c 'd e' && f 2>&1 | g\nh -x=\"y z\"", "git commit -m 'a; b'", "x ''"] {
        let words = |piece| match piece {
            Piece::Command(Command { words, .. }) => Some(words.into_iter().map(|word| word.text).collect::<Vec<_>>()),
            _ => None,
        };
        let loosely: Vec<_> = pieces(line).into_iter().filter_map(words).collect();
        assert_eq!(command::parts(line).unwrap(), loosely, "{line}");
    }
}

#[test]
fn a_long_nest_is_read_to_its_end() {
    for by in ["$(", "${X:-$(", "$((", "((", "a=("] {
        let line = format!("{}sh x.sh", by.repeat(5_000));
        assert!(!pieces(&line).is_empty(), "{by}");
    }
    assert!(read(&format!("{}sh x.sh", "$(".repeat(50_000))).contains(&"sh|x.sh".to_owned()));
    let texts = format!("{}sh x.sh", "cat <<E $(\n$(".repeat(5_000));
    assert!(read(&texts).contains(&"…".to_owned()));
}
