use std::sync::{Arc, Mutex, PoisonError};

use bosun_model::ToolSpec;

/// The tools of requests where some are kept back. As long as the same ones are, the very same list is given: what
/// remembers sizes and texts of tools knows them by their address.
#[derive(Default)]
pub(crate) struct Offered {
    last: Mutex<Option<Last>>,
}

struct Last {
    all: Arc<[ToolSpec]>,
    /// Places in `all`.
    kept: Vec<usize>,
    left: Arc<[ToolSpec]>,
}

impl Offered {
    /// Those of `all` whose name `is_offered`.
    pub(crate) fn of(&self, all: &Arc<[ToolSpec]>, is_offered: impl Fn(&String) -> bool) -> Arc<[ToolSpec]> {
        let named = all.iter().enumerate().filter(|(_, tool)| is_offered(&tool.name));
        let kept: Vec<usize> = named.map(|(place, _)| place).collect();
        if kept.len() == all.len() {
            return Arc::clone(all);
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = &*last
            && Arc::ptr_eq(&last.all, all)
            && last.kept == kept
        {
            return Arc::clone(&last.left);
        }
        let left: Arc<[ToolSpec]> = kept.iter().filter_map(|place| all.get(*place)).cloned().collect();
        *last = Some(Last { all: Arc::clone(all), kept, left: Arc::clone(&left) });
        left
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_same_tools_kept_back_give_the_same_list() {
        let spec = |name: &str| ToolSpec { name: name.into(), description: String::new(), schema: json!({}) };
        let all: Arc<[ToolSpec]> = ["a", "b", "c"].map(spec).into();
        let offered = Offered::default();
        let without = |hidden: &'static str| offered.of(&all, move |name| !hidden.contains(name.as_str()));
        let names = |tools: &[ToolSpec]| tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
        let first = without("b");
        assert_eq!(names(&first), ["a", "c"]);
        assert!(Arc::ptr_eq(&first, &without("b")));
        let other = without("a");
        assert_eq!(names(&other), ["b", "c"]);
        assert!(Arc::ptr_eq(&all, &without("-")), "nothing is kept back");
        assert!(Arc::ptr_eq(&other, &without("a")));
    }
}
