//! Markdown as HTML of a few tags: nothing in it is loaded or run, and what was HTML in it is text.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::html::escaped;
use super::text::visible;

/// What a message can have beyond the standard; the same as in the window.
const OPTIONS: Options = Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS);
/// `text` as HTML. Headings begin below those of the page; behind the words of a link stands where it leads: nothing on the
/// page can be followed by a slip. A picture is its name and address.
pub(super) fn prose(text: &str) -> String {
    let text = visible(text);
    let mut page = Prose { html: String::with_capacity(text.len() * 2), ..Prose::default() };
    Parser::new_ext(&text, OPTIONS).for_each(|event| page.event(event));
    page.html
}

#[derive(Default)]
struct Prose {
    html: String,
    /// Where the links and pictures that are open lead, and where in the page their words begin.
    links: Vec<(String, usize)>,
    in_head: bool,
}

impl Prose {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.html.push_str(&escaped(&text)),
            Event::Code(text) => self.html.push_str(&format!("<code>{}</code>", escaped(&text))),
            Event::SoftBreak => self.html.push('\n'),
            Event::HardBreak => self.html.push_str("<br>\n"),
            Event::Rule => self.html.push_str("<hr>\n"),
            Event::TaskListMarker(done) => self.html.push_str(if done { "☑ " } else { "☐ " }),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.html.push_str(&escaped(&text));
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let opening = match tag {
            Tag::Heading { level, .. } => format!("<h{}>", depth(level)),
            Tag::CodeBlock(_) => "<pre class=\"code\">".to_owned(),
            Tag::HtmlBlock => "<p class=\"text\">".to_owned(),
            Tag::List(Some(first)) if first != 1 => format!("<ol start=\"{first}\">\n"),
            Tag::TableHead => {
                self.in_head = true;
                "<tr>".to_owned()
            }
            Tag::Link { dest_url, .. } => {
                self.links.push((escaped(&dest_url), self.html.len()));
                return;
            }
            Tag::Image { dest_url, .. } => {
                self.links.push((escaped(&dest_url), self.html.len()));
                "[".to_owned()
            }
            other => {
                let end = other.to_end();
                self.name(end).map_or_else(String::new, |name| format!("<{name}>"))
            }
        };
        self.html.push_str(&opening);
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => self.html.push_str(&format!("</h{}>\n", depth(level))),
            TagEnd::CodeBlock => self.html.push_str("</pre>\n"),
            TagEnd::HtmlBlock => self.html.push_str("</p>\n"),
            TagEnd::TableHead => {
                self.in_head = false;
                self.html.push_str("</tr>\n");
            }
            TagEnd::Link => self.lead(),
            TagEnd::Image => {
                self.html.push(']');
                self.lead();
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::TableCell => {
                if let Some(name) = self.name(tag) {
                    self.html.push_str(&format!("</{name}>"));
                }
            }
            other => {
                if let Some(name) = self.name(other) {
                    self.html.push_str(&format!("</{name}>\n"));
                }
            }
        }
    }

    /// Says where something leads, if its words do not.
    fn lead(&mut self) {
        let Some((address, words)) = self.links.pop() else { return };
        if self.html.get(words..).is_none_or(|said| said != address) {
            self.html.push_str(&format!(" <span class=\"meta\">({address})</span>"));
        }
    }

    fn name(&self, tag: TagEnd) -> Option<&'static str> {
        Some(match tag {
            TagEnd::Paragraph => "p",
            TagEnd::BlockQuote(_) => "blockquote",
            TagEnd::List(true) => "ol",
            TagEnd::List(false) => "ul",
            TagEnd::Item => "li",
            TagEnd::Table => "table",
            TagEnd::TableRow => "tr",
            TagEnd::TableCell if self.in_head => "th",
            TagEnd::TableCell => "td",
            TagEnd::Emphasis => "em",
            TagEnd::Strong => "strong",
            TagEnd::Strikethrough => "del",
            _ => return None,
        })
    }
}

/// Below the title and the names of who speaks.
fn depth(level: HeadingLevel) -> usize {
    (level as usize + 2).min(6)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::prose;

    #[test]
    fn what_is_written_in_markdown_is_drawn() {
        let cases = [
            ("**bold** and *soft* `x < y`", "<p><strong>bold</strong> and <em>soft</em> <code>x &lt; y</code></p>\n"),
            ("# One\ntext", "<h3>One</h3>\n<p>text</p>\n"),
            ("3. a\n4. b", "<ol start=\"3\">\n<li>a</li>\n<li>b</li>\n</ol>\n"),
            ("- [x] done", "<ul><li>☑ done</li>\n</ul>\n"),
            (
                "| a | b |\n|---|---|\n| 1 | 2 |",
                "<table><tr><th>a</th><th>b</th></tr>\n<tr><td>1</td><td>2</td></tr>\n</table>\n",
            ),
            ("an inline ``` mark\n\nand more", "<p>an inline ``` mark</p>\n<p>and more</p>\n"),
            ("```rust\nlet x;\n```", "<pre class=\"code\">let x;\n</pre>\n"),
        ];
        for (text, html) in cases {
            assert_eq!(prose(text), html, "{text}");
        }
    }

    #[test]
    fn nothing_is_loaded_or_run_and_a_link_says_where_it_leads() {
        let link = |text| prose(text).trim_start_matches("<p>").trim_end_matches("</p>\n").to_owned();
        assert_eq!(
            link("[here](https://host.example/a?b=1&c=2)"),
            "here <span class=\"meta\">(https://host.example/a?b=1&amp;c=2)</span>"
        );
        assert_eq!(link("<https://host.example>"), "https://host.example");
        assert_eq!(link("[x](javascript:alert(1))"), "x <span class=\"meta\">(javascript:alert(1))</span>");
        let picture = "[pic] <span class=\"meta\">(https://host.example/p.png)</span>";
        assert_eq!(link("![pic](https://host.example/p.png)"), picture);
        for hostile in ["<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "a <b onclick='x'>c</b>", "<!-- x"]
        {
            let html = prose(hostile);
            assert!(!["<img", "<script", "<b", "<!--", "<a"].iter().any(|tag| html.contains(tag)), "{html}");
        }
        assert_eq!(link("a\u{202e}b"), "a⟨U+202E⟩b");
    }
}
