/** Every environment variable the CLI reads, with what it is for: the help topic and the documentation are made of it. */
export const ENVIRONMENT = [
  ['KS_URL', 'address of the service, instead of the local daemon'],
  ['KS_CONTEXT', 'name of the context to use'],
  ['KS_TOKEN_FILE', 'file that holds the access token'],
  ['KS_TOKEN', 'the access token itself, where a file is not possible'],
  ['KS_SPACE', 'space to use when no --space is given'],
  ['KS_FORMAT', 'output format: table, json, jsonl or tsv'],
  ['KS_TIMEOUT', 'time a whole command may take, such as 30s'],
  ['KS_AUTOSTART', '0: never start the local daemon'],
  ['KS_NO_INPUT', '1: never ask'],
  ['KS_PAGER', 'program that shows output longer than the screen; empty or cat for none'],
  ['PAGER', 'the same, where KS_PAGER is not set (default less)'],
  ['KS_DEBUG', '1: print request lines and trace ids on stderr'],
  ['KS_DATA_DIR', 'data directory of the local daemon'],
  ['KS_CONFIG_DIR', 'directory of config.json and credentials.json'],
  ['KS_CACHE_DIR', 'directory of what may be deleted any time'],
  ['KS_STATE_DIR', 'directory of what ingest and query remember'],
  ['KCHAT_URL', 'address of the chat service, for kchat alone'],
  ['KCHAT_API_KEY', 'key of a chat application'],
  ['KCHAT_KEY', 'the same, where KCHAT_API_KEY is not set'],
  ['KCHAT_APP', 'name of the stored key to use'],
  ['KCHAT_USER', 'end user to speak as, instead of the login name'],
  ['VISUAL', 'editor of messages in kchat chat'],
  ['EDITOR', 'the same, where VISUAL is not set'],
  ['HF_ENDPOINT', 'mirror of the hub for ks models pull (default https://huggingface.co)'],
  ['HTTPS_PROXY', 'proxy for services at https addresses, also in small letters; never for this machine'],
  ['HTTP_PROXY', 'the same for http addresses'],
  ['NO_PROXY', 'hosts, domains and networks that are reached without it, parted by commas; * for all'],
  ['NO_COLOR', 'no colours'],
  ['FORCE_COLOR', 'colours, terminal or not'],
  ['CLICOLOR', '0: no colours'],
  ['CLICOLOR_FORCE', 'colours, terminal or not'],
  ['TERM', 'dumb: no colours, no live lines'],
  ['COLUMNS', 'width of tables'],
  ['CI', 'no colours, no live lines, no questions'],
] as const

export type Env = Readonly<Record<string, string | undefined>>

/** Value of a variable; an empty one counts as absent. */
export function envValue(env: Env, name: (typeof ENVIRONMENT)[number][0]): string | undefined {
  const value = env[name]
  return value === undefined || value === '' ? undefined : value
}

/** Whether a switch variable is on: set and not `0` or `false`. */
export function envOn(env: Env, name: (typeof ENVIRONMENT)[number][0]): boolean {
  const value = envValue(env, name)
  return value !== undefined && value !== '0' && value.toLowerCase() !== 'false'
}
