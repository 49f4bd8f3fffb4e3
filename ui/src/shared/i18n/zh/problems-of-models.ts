import type { Messages } from '../en';

/** 关于模型和服务商的句子；其余的在 problems.ts 中。 */
export const problemsOfModels = {
  no_model_chosen: '本会话没有选择模型；请在标题栏中选择',
  provider_unknown: '没有服务商“{id}”；请在“设置”的“模型”中选择',
  provider_gone: '服务商“{id}”已不在设置中；请选择其他模型',
  provider_label: '服务商需要 1 到 80 个字符的名称',
  base_url_too_long: 'Base URL 过长；它应当类似 https://models.example/v1',
  tour_built_in: '导览是内置的，不能添加',
  family_fixed: '内置服务商的类型不能更改；请改为添加新的服务商',
  no_key: '这不是密钥：它过长，或含有空格或换行；请重新填写',
  key_missing: '{provider} 需要密钥；请在设置中填写',
  key_locked: '{provider} 的密钥已保存，但无法读取：{why}',
  provider_none: '没有服务商“{id}”；可用的有 {known}，以及在 Bosun 设置中添加的',
  key_nowhere:
    '{provider} 需要密钥，而环境变量 {variable} 和密钥环中都没有；请设置 {variable}，或在 Bosun 的设置中填写密钥。密钥可在 {page} 创建',
  keyring_locked: '密钥环中有 {provider} 的密钥，但无法取出（{why}）',
  keyring_locked_or: '密钥环中有 {provider} 的密钥，但无法取出（{why}）；也可设置 {variables}',
  keyring_missing: '此系统上没有密钥环响应（“{detail}”）；要保存密钥，请解锁或安装一个（例如 gnome-keyring）',
  keyring_is_locked: '密钥环已锁定；请解锁后重试',
  keyring_slow: '密钥环在 {seconds} 秒内没有响应；请在它的提示框中作答或解锁它，然后重试',
  keyring_other: '密钥环返回的密钥与存入的不同；请重新填写密钥，或检查密钥环',
  keyring_refused: '密钥环没有接受密钥：“{detail}”；请解锁后重新填写密钥',
  keyring_unremoved: '密钥环没有删除该条目：“{detail}”；请解锁后重试，或直接在密钥环中删除',
  key_stays: '密钥仍在密钥环中：{why}',
  key_left: 'Bosun 不再使用它的密钥，但未能从密钥环中删除（{why}）；请直接在密钥环中删除',
  not_local: '这不是 Bosun 会查找服务器的地址；请用 Base URL 添加该服务器',
  too_many_models: '这些设置中的模型过多；请删除一些',
  model_unnamed: '模型需要服务商和名称',
  model_without_tokens: '{model}：上下文窗口和输出必须大于 0 个词元',
  model_price: '{model}：价格必须是不小于 0 的美元数额',
  budget_number: '预算必须是大于 0 的美元数额；留空表示不设预算',
  wait_number: '等待时间必须在 1 秒到 1 天之间；留空表示使用默认值',
  settings_unreadable: '这些设置无法使用：“{detail}”',
  key_refused: '{host} 不接受这个密钥（状态 {status}）；请换一个',
  nothing_at_address: '{host} 在这个地址没有任何内容（状态 {status}）：请求的地址是 {address}；请检查 Base URL 和模型',
  nothing_without_version:
    '{host} 在这个地址没有任何内容（状态 {status}）：{address} 末尾没有 /v1，而多数服务器需要它；请检查 Base URL 和模型',
  fewer_requests: '{host} 要求减少请求（状态 {status}）；请稍等片刻再试',
  pay_first: '{host} 要求先付费（状态 {status}）；请在那里充值，或选择其他模型',
  overloaded: '{host} 出错或过载（状态 {status}）；请稍后重试',
  refused_silently: '{host} 拒绝了请求（状态 {status}），没有说明原因；请选择其他模型，或检查服务商的设置',
  address_wrong: '“{detail}”（请求的地址是 {address}；请检查 Base URL）',
  address_without_version: '“{detail}”（{address} 末尾没有 /v1，而多数服务器需要它）',
  without_tools: '“{detail}”（智能体需要使用工具：请选择支持工具的模型）',
  error_without_words: '{host} 报告了错误，但没有说明原因；请重试，或选择其他模型',
  other_json: '{address} 返回的 JSON 不是模型的回复，也不是事件流；请检查 Base URL，以及此网络是否需要先登录',
  other_json_without_version:
    '{address} 返回的 JSON 不是模型的回复，也不是事件流；多数服务器的 Base URL 以 /v1 结尾，有些网络需要先登录',
  something_else: '{address} 返回的不是事件流；请检查 Base URL，以及此网络是否需要先登录',
  something_else_without_version: '{address} 返回的不是事件流；多数服务器的 Base URL 以 /v1 结尾，有些网络需要先登录',
  web_page: '{address} 返回的是网页{title}，不是模型服务器的回复；请检查 Base URL，以及此网络是否需要先登录',
  web_page_without_version:
    '{address} 返回的是网页{title}，不是模型服务器的回复；多数服务器的 Base URL 以 /v1 结尾，有些网络需要先登录',
  certificate_date: '{host} 的证书不可信（“{detail}”）；请检查本机的日期和时间',
  certificate:
    '{host} 的证书不可信（“{detail}”）；网络中可能有设备截取了连接：请检查网络，或在“设置”的“模型”中添加其证书',
  not_secure: '无法与 {address} 建立安全连接（“{detail}”）；请检查 Base URL，以及中间的代理或防火墙',
  not_accepted: '{address} 没有及时接受连接；请重试，或检查 Base URL 和网络',
  host_unknown: '找不到主机 {host}（“{detail}”）；请检查 Base URL 和网络',
  nothing_answers: '{address} 没有响应（“{detail}”）；请检查服务器是否在那里运行',
  proxy_wants_password:
    '通往 {host} 的代理需要用户名和密码；请在“设置”的“模型”中填在代理旁边，或在启动 Bosun 时把 HTTPS_PROXY 设为含用户名和密码的地址（http://NAME:PASSWORD@PROXY:PORT）',
  proxy_refused: '通往 {host} 的代理不放行此请求（“{detail}”）；请询问其管理者，或检查“设置”的“模型”中的代理',
  proxy_unreached:
    '无法连接通往 {host} 的代理（“{detail}”）；请检查“设置”的“模型”中的代理、HTTPS_PROXY，以及桌面的设置',
  proxy_script:
    '不经代理无法连接 {host}（“{detail}”）。{desktop} 的设置用脚本（PAC）选择代理，而 Bosun 不运行它：请在“设置”的“模型”中填写代理，或设置 HTTPS_PROXY',
  broke_before_reply: '与 {address} 的连接在收到回复之前中断（“{detail}”）；请重试',
  only_part: '{host} 在 {seconds} 秒内只发来一部分回复，Bosun 已停止等待；请重试，或选择其他模型',
  no_answer: '{host} 在 {seconds} 秒内没有应答，Bosun 已停止等待；请重试，或选择其他模型',
  still_sending: '{host} 的同一条回复 {seconds} 秒后仍未结束，Bosun 已停止等待；请重试，或选择其他模型',
  sent_nothing: '{host} 在 {seconds} 秒内没有发来任何内容，Bosun 已停止等待；请重试，或选择其他模型',
  sent_nothing_more: '{host} 在 {seconds} 秒内没有再发来内容，Bosun 已停止等待；请重试，或选择其他模型',
  redirected:
    '{address} 把请求重定向到 {to}。Bosun 不跟随重定向，以免密钥发送到未曾为其填写的地址；如果你信任那个地址，请把它设为 Base URL',
  reply_cut: '{host} 的回复在完成之前就中断了；请重试',
  reply_broken: '{host} 的回复在完成之前就中断了（“{detail}”）；请重试',
  reply_unfinished: '回复在完成之前就结束了；请重试',
  bad_format: '{host} 的回复格式不正确：“{detail}”；请重试，或选择其他模型',
  network_unusable: '此系统的网络设置无法使用：“{detail}”；请检查“设置”的“模型”中的代理和证书',
  key_characters: '密钥中有不应出现的字符（也许是换行）；请重新填写',
  header_name: '请求头“{name}”的名称不符合 HTTP 规定；请使用字母、数字和连字符',
  header_value: '请求头“{name}”的值不符合 HTTP 规定；请去掉换行和控制字符',
  header_too_long: '请求头的值最多 {most} 字节；请缩短',
  headers_full: '一个服务商最多有 {most} 个请求头，此服务商已达上限；请先移除一个',
  header_reserved: '请求头“{name}”由 Bosun 自行发送；请去掉它',
  no_model_named: '没有指定模型；请选择一个',
  base_url_scheme: 'Base URL“{url}”前面没有 http:// 或 https://；它应当类似 {example}',
  base_url_unreadable: 'Base URL“{url}”无法识别（“{detail}”）；它应当类似 {example}',
  base_url_other: 'Base URL“{url}”既不是 http 也不是 https，而是 {scheme}；它应当类似 {example}',
  base_url_hostless: 'Base URL“{url}”没有主机名；它应当类似 {example}',
  base_url_unnamed: 'Base URL“{url}”中还缺少你的账户名称；请用它替换 {place}',
  base_url_secret: 'Base URL 含有用户名或密码；请把密钥填在单独的输入框中',
  base_url_query:
    'Base URL 的查询部分含有“{name}”，它会以明文保存。请把它去掉；网关用来识别你的内容请填在该服务商的自定义请求头中，由密钥环保存',
  proxy_address: '代理“{address}”不是地址；它应当类似 http://proxy.example:3128',
  proxy_scheme: '代理使用的是 {scheme}，而 Bosun 只支持 http、https 和 socks5 代理；请填写其他代理',
  proxy_secret: '代理地址含有用户名或密码；请填在单独的输入框中，由密钥环保存',
  proxy_login_wrong: '这不能作为代理的用户名和密码：两者都不能含换行，也不能超过 1,024 个字符',
  proxy_login_nowhere: '这些设置中没有代理，无法为其保存用户名和密码；请先填写代理地址',
  proxy_login_locked:
    '密钥环中有代理的用户名和密码，但无法取出（{why}）；请解锁密钥环，或在“设置”的“模型”中代理旁边重新填写两者',
  proxy_unusable: '代理“{address}”无法使用；它应当类似 http://proxy.example:3128',
  certificates_unreadable: '证书无法按 PEM 读取；请完整粘贴从 BEGIN CERTIFICATE 到 END CERTIFICATE 的文本',
  certificates_none: '这段文本中没有证书；请完整粘贴从 BEGIN CERTIFICATE 到 END CERTIFICATE 的文本',
  aws_profile_sso:
    'AWS 配置 {profile} 通过 SSO 登录，Bosun 为此需要 AWS CLI；请安装它并运行 `aws sso login --profile {profile}`，或填写 Bedrock API 密钥',
  aws_profile_console:
    'AWS 配置 {profile} 通过控制台登录，Bosun 为此需要 AWS CLI；请安装它并运行 `aws login --profile {profile}`，或填写 Bedrock API 密钥',
  aws_profile_program:
    'AWS 配置 {profile} 所指定的程序没有给出密钥：“{detail}”；请在终端中运行它，或填写 Bedrock API 密钥',
  aws_profile_role: 'AWS 配置 {profile} 需要代入角色，Bosun 为此需要 AWS CLI；请安装它，或填写 Bedrock API 密钥',
  aws_cli_failed:
    'AWS CLI 没有给出配置 {profile} 的密钥：“{detail}”；请试试 `aws sts get-caller-identity --profile {profile}`，或填写 Bedrock API 密钥',
  aws_login_ended: 'AWS 配置 {profile} 的登录已过期或从未登录；请运行 `{command}`，然后重试',
  aws_profile_empty:
    'AWS 配置 {profile} 中没有密钥；请设置 `aws configure export-credentials --format env` 输出的变量后启动 Bosun，或填写 Bedrock API 密钥',
  aws_nothing:
    '没有 AWS 凭据：没有 Bedrock API 密钥、没有 AWS_ACCESS_KEY_ID，~/.aws 中也没有配置 {profile}；请填写 Bedrock API 密钥，或运行 `aws configure`',
  aws_unsigned: '无法为 AWS 签署请求；请检查 Base URL',
  google_file_unreadable: 'GOOGLE_APPLICATION_CREDENTIALS 指向 {path}，但无法读取；请让它指向凭据文件',
  google_nothing:
    '没有 Google 凭据：没有 GOOGLE_APPLICATION_CREDENTIALS，也没有应用默认凭据；请运行 `gcloud auth application-default login`',
  google_file_foreign: '{path} 不是 Google 凭据文件；请让 GOOGLE_APPLICATION_CREDENTIALS 指向凭据文件',
  google_file_kind:
    '{path} 中凭据的类型是“{given}”；请使用 Bosun 支持的 authorized_user、service_account 或 impersonated_service_account',
  google_file_unusable: '{path} 中 {given} 类型的凭据无法使用；请重新生成该文件',
  google_no_token: '{path} 没有给出令牌；请再次运行 `gcloud auth application-default login`',
  google_unreached: 'Google 没有为 {path} 给出令牌（“{detail}”）；请检查网络后重试',
  google_refused: 'Google 不接受 {path} 的凭据；请再次运行 `gcloud auth application-default login`',
  vertex_no_project:
    'Vertex AI 需要知道由哪个项目付费：请设置 GOOGLE_CLOUD_PROJECT，或写进 Base URL，例如 https://us-east5-aiplatform.googleapis.com/v1/projects/PROJECT/locations/us-east5',
  request_unwritable: '无法写出请求：“{detail}”；请修改消息，或新建会话',
  limit_of_steps:
    '本回合已达到 {limit} 次模型调用的上限（含子智能体）；目前的内容都已保存：继续本回合时会重新按同样的上限计算',
  limit_of_tokens:
    '本回合已达到 {limit} 个词元的上限（含子智能体）；目前的内容都已保存：继续本回合时会重新按同样的上限计算',
  limit_of_dollars:
    '本回合已达到 {limit} 美元的上限（含子智能体）；目前的内容都已保存：继续本回合时会重新按同样的上限计算',
  limit_of_seconds: '本回合已达到 {limit} 秒工作时间的上限；目前的内容都已保存：继续本回合时会重新按同样的上限计算',
  same_failures: '模型以相同的参数调用 {tool} {times} 次，每次都失败，因此本回合已结束；请告诉它该怎么做，或继续本回合',
  answer_not_handed_in: '模型没有按要求的格式给出答案，即使强制要求也没有；它说的内容已保存：请重试，或告诉它该怎么做',
  session_budget:
    '本会话 ${limit} 的预算已用完（已花费 ${spent}）；目前的内容都已保存：请在“设置”的“模型”中提高预算，然后继续本回合',
  day_budget:
    '今天 ${limit} 的预算已用完（已花费 ${spent}）；目前的内容都已保存：请在“设置”的“模型”中提高预算，然后继续本回合',
  hook_refused: '钩子“{hook}”拒绝了此操作',
  hook_refused_for: '钩子“{hook}”拒绝了此操作：“{detail}”',
  spending_unknown: '无法读取已花费的数额，因此无法核对预算：“{detail}”；请检查数据文件夹能否读取，然后继续本回合',
  session_cost: '本会话已花费 ${spent}；你要求在 ${limit} 时提醒',
  session_cost_stops: '本会话已花费 ${spent}；你要求在 ${limit} 时提醒。到 ${stop} 时停止',
  day_cost: '今天已花费 ${spent}；你要求在 ${limit} 时提醒',
  day_cost_stops: '今天已花费 ${spent}；你要求在 ${limit} 时提醒。到 ${stop} 时停止',
  asks_again: '{seconds} 秒后重试，原因：{why}',
  budget_waits: '另一次调用正在进行，两次合计可能用完预算：待其结束后，若余额足够再进行本次调用',
  fell_back: '{from} 过载（“{detail}”）；本回合余下部分由 {to} 回答',
  thinking_unseen: '{model} 会思考，但服务商不提供思考摘要，因此无法显示（“{detail}”）',
  hook_broke: '钩子“{hook}”在 {point} 处失败：“{detail}”',
  key_in_message: '你的消息中有疑似密钥的文字。它会发送给 {model} 并留在本会话中；如果是真密钥，请到签发处更换',
  key_in_result: '{tool} 的结果中有疑似密钥的文字。它会发送给 {model} 并留在本会话中；如果是真密钥，请到签发处更换',
  skill_wrong: '技能：“{detail}”',
  subagent_wrong: '子智能体：“{detail}”',
  subagent_lacks: '子智能体：“{name}”会继续工作，但不能使用这里没有的工具：{tools}',
  untrusted: '此项目带有 {names}，目前的内容还没有人信任，因此未使用；`bosun trust list` 可查看',
  brought_unusable: '此项目带有 {name}，但无法使用：“{detail}”',
  memory_cut: '{path} 太长，提示词中只放入了开头；智能体需要时会读取其余部分',
  agent_lacks: '智能体会继续工作，但不能使用 builtin_tools 中这里没有的工具：{tools}',
  asking_unknown:
    '审批：为 {tools} 做了设置，但这里没有叫这个名字的工具，所以不起作用。请改正名称，或添加提供该工具的服务器',
  subagent_asking_unknown:
    '子智能体：“{name}”设置了 {tools} 如何请求审批，但这里没有叫这个名字的工具，所以不起作用。请改正名称，或添加提供该工具的服务器',
  hook_unmatched:
    '钩子“{hook}”针对 {tools} 的调用，但这里没有叫这个名字的工具，所以不会为它们运行。请改正名称，或添加提供该工具的服务器',
  second_missing:
    '{model} 应在会话的模型过载时代为回答，但它无法使用（“{detail}”）。目前没有其他模型接替；请修复它，或在“设置”的“模型”中另选一个',
  small_missing:
    '{model} 应负责撰写标题和摘要，但它无法使用（“{detail}”）。摘要改由会话自己的模型撰写，标题则不再生成；请修复它，或在“设置”的“模型”中另选一个',
  cost_not_counted:
    '一个回合最多可花费 ${limit}，但 {model} 的价格未知，因此它的费用没有计入。请在“设置”的“模型”中填写价格，或设定词元上限',
  budget_not_counted: '设有预算，但 {model} 的价格未知，它的费用没有计入预算。请在“设置”的“模型”中填写价格',
  not_summed_up:
    '对话已长到需要摘要，但未能生成（“{detail}”），因此仍完整发送。请在“设置”的“模型”中另选一个撰写摘要的模型，或手动生成对话摘要',
  not_summed_up_empty:
    '对话已长到需要摘要，但模型没有给出摘要，因此仍完整发送。请在“设置”的“模型”中另选一个撰写摘要的模型，或手动生成对话摘要',
  not_summed_up_longer:
    '对话已长到需要摘要，但摘要比它要替换的内容还长，因此仍完整发送。请在“设置”的“模型”中另选一个撰写摘要的模型，或手动生成对话摘要',
  summed_up_again:
    '对话已超出该模型的上下文窗口，因此重新生成了你撤销的摘要。若要完整发送对话，请换用窗口更大的模型，或新建会话',
} satisfies Partial<Messages['problems']>;
