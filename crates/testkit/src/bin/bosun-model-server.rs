//! A scripted model as its own process: `bosun-model-server [SCRIPT.json|-] [--port N]`.
//!
//! Prints the port on a line of its own and serves until standard input closes. With `-` the script is the first line of
//! standard input. Exit code 1 and the bodies on standard error when a request met no rule. The script format is in the
//! docs of `bosun_testkit`.

#![allow(clippy::disallowed_methods, reason = "a test tool reads its own script")]

use std::io::{Read, Write};
use std::process::ExitCode;

use bosun_testkit::{ModelServer, Script};

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(message) => {
            eprintln!("bosun-model-server: {message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, String> {
    let (mut path, mut port) = (None, 0);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--port" => {
                let value = arguments.next().ok_or("--port wants a number")?;
                port = value.parse().map_err(|_| format!("--port wants a number, not {value:?}"))?;
            }
            "--help" | "-h" => {
                println!("bosun-model-server [SCRIPT.json|-] [--port N]");
                return Ok(ExitCode::SUCCESS);
            }
            _ if path.is_none() => path = Some(argument),
            _ => return Err(format!("what is {argument:?}? one script is enough")),
        }
    }
    let server = ModelServer::at(script(path.as_deref())?, port).map_err(|error| format!("port {port}: {error}"))?;
    println!("{}", server.port());
    std::io::stdout().flush().map_err(|error| error.to_string())?;
    wait_for_end();
    let unmatched = server.take_unmatched();
    for request in &unmatched {
        eprintln!("no rule for: {request}");
    }
    Ok(if unmatched.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn script(path: Option<&str>) -> Result<Script, String> {
    let json = match path {
        None => return Ok(Script::default()),
        Some("-") => {
            let mut line = String::new();
            std::io::stdin().read_line(&mut line).map_err(|error| error.to_string())?;
            line
        }
        Some(path) => std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?,
    };
    Script::parse(&json).map_err(|error| format!("the script cannot be read: {error}"))
}

/// Whoever started this holds the other end of standard input; when it is gone, so is the reason to serve.
fn wait_for_end() {
    let mut buffer = [0; 1024];
    while matches!(std::io::stdin().read(&mut buffer), Ok(read) if read > 0) {}
}
