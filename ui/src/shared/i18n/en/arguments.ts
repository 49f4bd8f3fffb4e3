/** What the arguments of Bosun's own tools are, for the person who edits them; the schema's words are the model's. */
export const toolArguments = {
  execute: {
    command: 'The command line, for /bin/sh, started in the project folder.',
    timeout: 'Seconds until the command and everything it started is stopped.',
  },
  write_file: {
    file_path: 'The file. Missing folders are created.',
    content: 'The full content of the file.',
    overwrite: 'Replaces a file that is already there.',
  },
  edit_file: {
    file_path: 'The file.',
    old_string: 'The text to replace, exactly as it is in the file.',
    new_string: 'The text that replaces it.',
    replace_all: 'Replaces every occurrence, not just one.',
  },
  delete: { file_path: 'The file or folder.' },
  task: {
    description: 'The whole task with everything the subagent needs to know.',
    subagent_type: 'Which subagent, by its name.',
  },
  read_file: {
    file_path: 'The file.',
    offset: 'Lines to skip first.',
    limit: 'Maximum number of lines to read.',
  },
  ls: { path: 'The folder; / is the project.' },
  glob: {
    pattern: 'For example *.py, or src/**/*.rs.',
    path: 'The folder to search; empty is everything.',
    include_ignored: 'Also finds hidden files and those that .gitignore leaves out.',
  },
  grep: {
    pattern: 'The text to find within a line.',
    path: 'The file or folder to search; empty is everything.',
    glob: 'Searches only files that match this pattern.',
    output_mode: 'Paths, lines, or a count for each file.',
    max_count: 'Maximum number of matches to collect.',
    regex: 'Takes the text as a regular expression.',
    include_ignored: 'Also searches hidden files and those that .gitignore leaves out.',
  },
  write_todos: { todos: 'The whole plan, in the order of the work.' },
};
