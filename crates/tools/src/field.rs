use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A named part of the state that a tool, a middleware or an agent's configuration declares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateField {
    pub name: String,
    pub reducer: Reducer,
    /// Whether it stays with its agent: subagents neither get it nor give it back.
    pub private: bool,
}

/// How a field takes what is written to it. Total: what does not fit changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reducer {
    /// The last value stands.
    #[default]
    Replace,
    /// The field is a list; a list is added to its end, anything else as one entry.
    Append,
    /// The field is an object; its keys are set one by one, and `null` takes one out.
    Merge,
}

impl StateField {
    pub fn new(name: impl Into<String>, reducer: Reducer) -> Self {
        Self { name: name.into(), reducer, private: false }
    }

    pub fn private(self) -> Self {
        Self { private: true, ..self }
    }
}

impl Reducer {
    /// `field` with `update` taken in.
    pub fn reduce(self, field: &mut Value, update: &Value) {
        match (self, update) {
            (Self::Replace, update) => field.clone_from(update),
            (Self::Append, Value::Array(items)) => listed(field, items.clone()),
            (Self::Append, item) => listed(field, vec![item.clone()]),
            (Self::Merge, Value::Object(keys)) => keyed(field, keys),
            (Self::Merge, _) => {}
        }
    }

    /// What a field that nobody wrote to yet holds.
    pub fn empty(self) -> Value {
        match self {
            Self::Replace => Value::Null,
            Self::Append => Value::Array(Vec::new()),
            Self::Merge => Value::Object(Map::new()),
        }
    }

    /// The update that makes `now` of `base`; `None` where they are the same. Only what was written since is in it, so
    /// that it can be taken into a field that others wrote to meanwhile.
    pub fn difference(self, base: &Value, now: &Value) -> Option<Value> {
        if base == now {
            return None;
        }
        match (self, base, now) {
            (Self::Append, Value::Array(base), Value::Array(now)) if now.starts_with(base) => {
                Some(Value::Array(now.iter().skip(base.len()).cloned().collect()))
            }
            (Self::Merge, Value::Object(base), Value::Object(now)) => {
                let set = now.iter().filter(|(key, value)| base.get(*key) != Some(*value));
                let taken = base.keys().filter(|key| !now.contains_key(*key)).map(|key| (key.clone(), Value::Null));
                Some(Value::Object(set.map(|(key, value)| (key.clone(), value.clone())).chain(taken).collect()))
            }
            _ => Some(now.clone()),
        }
    }
}

/// Adds to a field as a list. What was there before it was one is its first entry.
fn listed(field: &mut Value, added: Vec<Value>) {
    let mut items = match field.take() {
        Value::Array(items) => items,
        Value::Null => Vec::new(),
        before => vec![before],
    };
    items.extend(added);
    *field = Value::Array(items);
}

/// Sets keys of a field as an object. What was there before it was one is gone, as nothing can name it.
fn keyed(field: &mut Value, keys: &Map<String, Value>) {
    let mut object = match field.take() {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    for (key, value) in keys {
        match value {
            Value::Null => object.remove(key),
            value => object.insert(key.clone(), value.clone()),
        };
    }
    *field = Value::Object(object);
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn reduced(reducer: Reducer, updates: &[Value]) -> Value {
        updates.iter().fold(reducer.empty(), |mut field, update| {
            reducer.reduce(&mut field, update);
            field
        })
    }

    #[test]
    fn each_reducer_takes_what_is_written_its_own_way() {
        let updates = [json!({"a": 1, "b": 2}), json!({"a": null, "c": 3})];
        assert_eq!(reduced(Reducer::Replace, &updates), updates[1]);
        assert_eq!(reduced(Reducer::Merge, &updates), json!({"b": 2, "c": 3}));
        assert_eq!(reduced(Reducer::Append, &updates), json!(updates));
        assert_eq!(reduced(Reducer::Append, &[json!([1, 2]), json!(3), json!([])]), json!([1, 2, 3]));
        assert_eq!(reduced(Reducer::Merge, &[json!({"a": 1}), json!("no object")]), json!({"a": 1}));
    }

    fn update(reducer: Reducer) -> BoxedStrategy<Value> {
        let scalar = prop_oneof![any::<u8>().prop_map(Value::from), "[a-c]{0,2}".prop_map(Value::from)];
        match reducer {
            Reducer::Replace => scalar.boxed(),
            Reducer::Append => prop::collection::vec(scalar, 0..4).prop_map(Value::from).boxed(),
            Reducer::Merge => {
                let value = prop_oneof![Just(Value::Null), scalar];
                prop::collection::btree_map("[a-d]", value, 0..4).prop_map(|keys| json!(keys)).boxed()
            }
        }
    }

    fn histories(reducer: Reducer) -> impl Strategy<Value = [Vec<Value>; 3]> {
        let some = move || prop::collection::vec(update(reducer), 0..5);
        (some(), some(), some()).prop_map(|(base, one, two)| [base, one, two])
    }

    fn any_histories() -> impl Strategy<Value = (Reducer, [Vec<Value>; 3])> {
        prop_oneof![Just(Reducer::Replace), Just(Reducer::Append), Just(Reducer::Merge)]
            .prop_flat_map(|reducer| histories(reducer).prop_map(move |histories| (reducer, histories)))
    }

    proptest! {
        /// What a subagent made of a field, taken into an untouched parent, is what the subagent has.
        #[test]
        fn the_difference_makes_the_one_of_the_other((reducer, [base, since, _]) in any_histories()) {
            let base = reduced(reducer, &base);
            let mut now = base.clone();
            since.iter().for_each(|update| reducer.reduce(&mut now, update));
            let mut again = base.clone();
            if let Some(difference) = reducer.difference(&base, &now) {
                reducer.reduce(&mut again, &difference);
            }
            prop_assert_eq!(again, now);
        }

        /// Two subagents that began from the same: nothing of either is lost, in whatever order they end.
        #[test]
        fn lists_of_two_keep_everything([base, one, two] in histories(Reducer::Append)) {
            let reducer = Reducer::Append;
            let base = reduced(reducer, &base);
            let ends = [one, two].map(|updates| {
                let mut now = base.clone();
                updates.iter().for_each(|update| reducer.reduce(&mut now, update));
                reducer.difference(&base, &now)
            });
            let merged = |order: [usize; 2]| {
                let mut field = base.clone();
                order.iter().filter_map(|at| ends[*at].as_ref()).for_each(|end| reducer.reduce(&mut field, end));
                let mut entries: Vec<String> = field.as_array().unwrap().iter().map(Value::to_string).collect();
                entries.sort();
                entries
            };
            let wanted = base.as_array().unwrap().len()
                + ends.iter().flatten().map(|end| end.as_array().unwrap().len()).sum::<usize>();
            prop_assert_eq!(merged([0, 1]).len(), wanted);
            prop_assert_eq!(merged([0, 1]), merged([1, 0]));
        }

        /// Keys that only one of two wrote are as that one left them, in whatever order they end.
        #[test]
        fn keys_of_two_merge_one_by_one([base, one, two] in histories(Reducer::Merge)) {
            let reducer = Reducer::Merge;
            let base = reduced(reducer, &base);
            let ends = [one, two].map(|updates| {
                let mut now = base.clone();
                updates.iter().for_each(|update| reducer.reduce(&mut now, update));
                let difference = reducer.difference(&base, &now);
                (now, difference.unwrap_or_else(|| json!({})))
            });
            for order in [[0, 1], [1, 0]] {
                let mut field = base.clone();
                order.iter().for_each(|at| reducer.reduce(&mut field, &ends[*at].1));
                for (own, other) in [(0, 1), (1, 0)] {
                    for key in ends[own].1.as_object().unwrap().keys() {
                        if !ends[other].1.as_object().unwrap().contains_key(key) {
                            prop_assert_eq!(field.get(key), ends[own].0.get(key));
                        }
                    }
                }
            }
        }
    }
}
