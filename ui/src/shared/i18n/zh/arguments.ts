import type { Messages } from '../en';

export const toolArguments: Messages['toolArguments'] = {
  execute: {
    command: '命令行，由 /bin/sh 在项目文件夹中运行。',
    timeout: '多少秒后结束该命令及其启动的一切。',
  },
  write_file: {
    file_path: '文件。缺少的文件夹会自动创建。',
    content: '文件的全部内容。',
    overwrite: '替换已经存在的文件。',
  },
  edit_file: {
    file_path: '文件。',
    old_string: '要替换的文字，与文件中完全一致。',
    new_string: '替换后的文字。',
    replace_all: '替换所有出现的地方，而不只是一处。',
  },
  delete: { file_path: '文件或文件夹。' },
  task: {
    description: '完整的任务，包含子智能体需要知道的一切。',
    subagent_type: '由哪个子智能体完成，填写其名称。',
  },
  read_file: {
    file_path: '文件。',
    offset: '先跳过多少行。',
    limit: '最多读取多少行。',
  },
  ls: { path: '文件夹；/ 即项目。' },
  glob: {
    pattern: '例如 *.py 或 src/**/*.rs。',
    path: '要搜索的文件夹；留空则搜索全部。',
    include_ignored: '也查找隐藏文件和 .gitignore 排除的文件。',
  },
  grep: {
    pattern: '要在一行中查找的文字。',
    path: '要搜索的文件或文件夹；留空则搜索全部。',
    glob: '只搜索符合此模式的文件。',
    output_mode: '列出路径、内容行，或每个文件的匹配数。',
    max_count: '最多收集多少处匹配。',
    regex: '把文字当作正则表达式。',
    include_ignored: '也搜索隐藏文件和 .gitignore 排除的文件。',
  },
  write_todos: { todos: '完整的计划，按工作顺序排列。' },
};
