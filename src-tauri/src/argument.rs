use std::ops::Deref;

use bosun_protocol::{ErrorCode, Problem};
use serde::Deserialize;
use specta::{Type, Types, datatype::DataType};
use tauri::Runtime;
use tauri::ipc::{Channel, CommandArg, CommandItem, InvokeError};

use crate::error::Failure;

/// An argument of a command that is refused like everything else when it is not what it should be: with a code and a
/// sentence. Tauri by itself rejects with a text that repeats what was sent.
#[derive(Debug)]
pub struct Arg<T>(pub T);

impl<T> Deref for Arg<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// The page knows it as a plain `T`.
impl<T: Type> Type for Arg<T> {
    fn definition(types: &mut Types) -> DataType {
        T::definition(types)
    }
}

impl<'de, T: Deserialize<'de>, R: Runtime> CommandArg<'de, R> for Arg<T> {
    fn from_command(item: CommandItem<'de, R>) -> Result<Self, InvokeError> {
        let (command, argument) = (item.name, item.key);
        T::deserialize(item).map(Self).map_err(|_| refusal(command, argument))
    }
}

/// A channel to the page, refused like an [`Arg`].
pub struct Line<T>(pub Channel<T>);

/// The page knows it as a plain channel.
impl<T: Type> Type for Line<T>
where
    Channel<T>: Type,
{
    fn definition(types: &mut Types) -> DataType {
        Channel::<T>::definition(types)
    }
}

impl<'de, T, R: Runtime> CommandArg<'de, R> for Line<T> {
    fn from_command(item: CommandItem<'de, R>) -> Result<Self, InvokeError> {
        let (command, argument) = (item.name, item.key);
        Channel::from_command(item).map(Self).map_err(|_| refusal(command, argument))
    }
}

fn refusal(command: &str, argument: &str) -> InvokeError {
    let problem = Problem::BadRequest { command: command.to_owned(), argument: argument.to_owned() };
    InvokeError::from(Failure::new(ErrorCode::Invalid, problem).0)
}
