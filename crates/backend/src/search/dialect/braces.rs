/// Patterns that one pattern may stand for.
const MAX: usize = 1000;

/// All patterns that `pattern` stands for, in the order of its alternatives. Braces without a partner or without a
/// comma are literal.
///
/// # Errors
/// The limit, where there are more than that.
pub(super) fn expand(pattern: &str) -> Result<Vec<String>, usize> {
    let mut done = Vec::new();
    let mut todo = vec![(0_usize, pattern.to_owned())];
    while let Some((from, text)) = todo.pop() {
        match group(&text, from) {
            None => done.push(text),
            Some(Group { open, close, commas }) => {
                let (before, after) = (text.get(..open).unwrap_or_default(), text.get(close + 1..).unwrap_or_default());
                let starts = std::iter::once(open).chain(commas.iter().copied());
                let ends = commas.iter().copied().chain(std::iter::once(close));
                let choices: Vec<_> = starts.zip(ends).collect();
                for (start, end) in choices.into_iter().rev() {
                    let choice = text.get(start + 1..end).unwrap_or_default();
                    // What was chosen may hold braces of its own, so that looking goes on where it begins.
                    todo.push((open, format!("{before}{choice}{after}")));
                }
            }
        }
        if done.len() + todo.len() > MAX {
            return Err(MAX);
        }
    }
    Ok(done)
}

struct Group {
    open: usize,
    close: usize,
    commas: Vec<usize>,
}

/// The first pair of braces with a comma between them, from `from` on.
fn group(text: &str, from: usize) -> Option<Group> {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'[' => at = class_end(bytes, at),
            b'{' => {
                if let Some(group) = closed(bytes, at) {
                    return Some(group);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

fn closed(bytes: &[u8], open: usize) -> Option<Group> {
    let mut commas = Vec::new();
    let mut depth = 0_usize;
    let mut at = open;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'[' => at = class_end(bytes, at),
            b'{' => depth += 1,
            b',' if depth == 1 => commas.push(at),
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return (!commas.is_empty()).then_some(Group { open, close: at, commas });
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The closing bracket of the class that opens at `open`, or `open` where there is none: then it is literal.
fn class_end(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    if matches!(bytes.get(at), Some(b'!' | b'^')) {
        at += 1;
    }
    // A bracket that comes first is a member.
    if bytes.get(at) == Some(&b']') {
        at += 1;
    }
    while let Some(byte) = bytes.get(at) {
        match byte {
            b']' => return at,
            b'/' => return open,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    open
}
