use bosun_tools::Todo;

use crate::PlannedTodo;

/// The new list with ids: a line keeps the id of an old line with the same text, else of the unmatched old line at
/// its own position, else it gets a new one.
pub(super) fn matched(old: &[PlannedTodo], new: &[Todo], next: &mut u32) -> Vec<PlannedTodo> {
    let mut taken = vec![false; old.len()];
    let mut ids: Vec<Option<String>> = new
        .iter()
        .map(|todo| {
            let found = old.iter().zip(&mut taken).find(|(line, taken)| !**taken && line.content == todo.content);
            found.map(|(line, taken)| {
                *taken = true;
                line.id.clone()
            })
        })
        .collect();
    for ((id, line), taken) in ids.iter_mut().zip(old).zip(&mut taken) {
        if id.is_none() && !*taken {
            *taken = true;
            *id = Some(line.id.clone());
        }
    }
    new.iter()
        .zip(ids)
        .map(|(todo, id)| PlannedTodo {
            id: id.unwrap_or_else(|| {
                *next += 1;
                format!("todo-{next}")
            }),
            content: todo.content.clone(),
            status: todo.status,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use bosun_tools::TodoStatus;
    use pretty_assertions::assert_eq;

    use super::*;

    fn list(texts: &[&str]) -> Vec<Todo> {
        texts.iter().map(|text| Todo { content: (*text).to_owned(), status: TodoStatus::Pending }).collect()
    }

    fn ids(todos: &[PlannedTodo]) -> Vec<&str> {
        todos.iter().map(|todo| todo.id.as_str()).collect()
    }

    #[test]
    fn lines_keep_their_id_by_text_then_by_position() {
        let mut next = 0;
        let first = matched(&[], &list(&["a", "b", "c"]), &mut next);
        assert_eq!(ids(&first), ["todo-1", "todo-2", "todo-3"]);
        let second = matched(&first, &list(&["c", "b, reworded", "a", "d"]), &mut next);
        assert_eq!(ids(&second), ["todo-3", "todo-2", "todo-1", "todo-4"]);
    }
}
