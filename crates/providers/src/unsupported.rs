//! What a model sent that nothing here can show.

use bosun_model::ModelEvent;

use crate::driver::Events;

/// Most letters of a kind that are shown.
const LONGEST: usize = 60;

/// Says in the reply itself that a part of `kind` is left out, so that no reply passes for a whole one that is not.
pub(crate) fn note(kind: &str, out: &mut Events) {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || "/-_.+".contains(*c);
    let kind: String = kind.chars().filter(is_plain).take(LONGEST).collect();
    let kind = if kind.is_empty() { "unknown" } else { &kind };
    tracing::debug!(kind, "a part of a reply that cannot be shown");
    out.push_back(ModelEvent::TextDelta { text: format!("\n[a part of this reply cannot be shown: {kind}]\n") });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_one_short_plain_word() {
        let mut out = Events::new();
        note("image/png]\n<b>\u{202e}", &mut out);
        note(&"x".repeat(500), &mut out);
        note("", &mut out);
        let texts: Vec<String> = out
            .into_iter()
            .map(|event| match event {
                ModelEvent::TextDelta { text } => text,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(texts[0], "\n[a part of this reply cannot be shown: image/pngb]\n");
        assert!(texts[1].len() < 120 && texts[2].contains(": unknown]"), "{texts:?}");
    }
}
