/// A pattern for one name.
#[derive(Clone, Debug)]
pub(super) struct Wildcard {
    parts: Vec<Part>,
    /// The most frequent shapes, told apart so that the walk need not look at characters.
    shape: Shape,
}

#[derive(Clone, Debug)]
enum Shape {
    Literal(String),
    /// `*` and then this.
    Suffix(String),
    General,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Char(char),
    /// `?`
    One,
    /// `*`
    Run,
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Wildcard {
    pub(super) fn parse(pattern: &str) -> Self {
        let mut parts = Vec::new();
        let mut chars = pattern.chars();
        while let Some(next) = chars.next() {
            parts.push(match next {
                '*' if parts.last() == Some(&Part::Run) => continue,
                '*' => Part::Run,
                '?' => Part::One,
                '[' => match class(chars.as_str()) {
                    Some((class, rest)) => {
                        chars = rest.chars();
                        class
                    }
                    None => Part::Char('['),
                },
                '\\' => Part::Char(chars.next().unwrap_or('\\')),
                other => Part::Char(other),
            });
        }
        let shape = shape(&parts);
        Self { parts, shape }
    }

    /// The one name that matches; `None` where others may.
    pub(super) fn literal(&self) -> Option<&str> {
        match &self.shape {
            Shape::Literal(text) => Some(text),
            Shape::Suffix(_) | Shape::General => None,
        }
    }

    /// The longest run of characters that every name has which matches; empty where there is none.
    pub(super) fn run(&self) -> String {
        let (mut longest, mut run) = (Vec::new(), Vec::new());
        for part in &self.parts {
            match part {
                Part::Char(char) => run.push(*char),
                _ => run.clear(),
            }
            if run.len() > longest.len() {
                longest.clone_from(&run);
            }
        }
        longest.into_iter().collect()
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        match &self.shape {
            Shape::Literal(text) => name == text,
            Shape::Suffix(text) => !name.starts_with('.') && name.ends_with(text.as_str()),
            // A leading dot is met by a literal one only.
            Shape::General if name.starts_with('.') && self.parts.first() != Some(&Part::Char('.')) => false,
            Shape::General => self.walk(name),
        }
    }

    /// Goes back to the last `*` only, so that the cost is at most pattern times name.
    fn walk(&self, name: &str) -> bool {
        let (mut at, mut rest) = (0, name.chars());
        let mut retry: Option<(usize, std::str::Chars<'_>)> = None;
        loop {
            if self.parts.get(at) == Some(&Part::Run) {
                at += 1;
                retry = Some((at, rest.clone()));
                continue;
            }
            let mut ahead = rest.clone();
            let met = match (self.parts.get(at), ahead.next()) {
                (None, None) => return true,
                (Some(part), Some(next)) => part.takes(next),
                _ => false,
            };
            if met {
                at += 1;
                rest = ahead;
                continue;
            }
            let Some((after_run, from)) = &mut retry else { return false };
            if from.next().is_none() {
                return false;
            }
            at = *after_run;
            rest = from.clone();
        }
    }
}

impl Part {
    fn takes(&self, next: char) -> bool {
        match self {
            Self::Char(wanted) => *wanted == next,
            Self::One => true,
            Self::Run => false,
            Self::Class { negated, ranges } => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&next)) != *negated
            }
        }
    }
}

fn shape(parts: &[Part]) -> Shape {
    let literal = |parts: &[Part]| -> Option<String> {
        parts.iter().map(|part| if let Part::Char(char) = part { Some(*char) } else { None }).collect()
    };
    if let Some(text) = literal(parts) {
        return Shape::Literal(text);
    }
    match parts.split_first() {
        Some((Part::Run, rest)) => literal(rest).map_or(Shape::General, Shape::Suffix),
        _ => Shape::General,
    }
}

/// A class from behind its `[`, and what follows it. `None` where it is not closed.
fn class(text: &str) -> Option<(Part, &str)> {
    let (negated, mut rest) = match text.strip_prefix(['!', '^']) {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut ranges = Vec::new();
    let mut first = true;
    loop {
        let (from, after) = member(rest, first)?;
        rest = after;
        let Some(from) = from else { return Some((Part::Class { negated, ranges }, rest)) };
        first = false;
        match rest.strip_prefix('-').filter(|after| !after.starts_with(']')) {
            Some(after) => {
                let (to, after) = member(after, false)?;
                ranges.push((from, to?));
                rest = after;
            }
            None => ranges.push((from, from)),
        }
    }
}

/// The next member of a class, `None` in it at the closing bracket.
fn member(text: &str, first: bool) -> Option<(Option<char>, &str)> {
    let mut chars = text.chars();
    let member = match chars.next()? {
        ']' if !first => None,
        '\\' => Some(chars.next()?),
        other => Some(other),
    };
    Some((member, chars.as_str()))
}
