/** Environment variables of the CLI with descriptions; the help topic and the documentation are generated from it. */
export const ENVIRONMENT = [
  ['KS_URL', 'address of the service, instead of the local daemon'],
  ['KS_CONTEXT', 'name of the context to use'],
  ['KS_TOKEN_FILE', 'file with the access token'],
  ['KS_TOKEN', 'access token, if a file is not possible'],
  ['KS_SPACE', 'space to use when no --space is given'],
  ['KS_FORMAT', 'output format: table, json, jsonl or tsv'],
  ['KS_TIMEOUT', 'time limit of a command, such as 30s'],
  ['KS_AUTOSTART', '0: never start the local daemon'],
  ['KS_NO_INPUT', '1: never prompt'],
  ['KS_PAGER', 'pager for output longer than the screen; empty or cat for none'],
  ['PAGER', 'the same, if KS_PAGER is not set (default less)'],
  ['KS_DEBUG', '1: print request lines and trace ids on stderr'],
  ['KS_DATA_DIR', 'data directory of the local daemon'],
  ['KS_CONFIG_DIR', 'directory of config.json and credentials.json'],
  ['KS_CACHE_DIR', 'cache directory; may be deleted at any time'],
  ['KS_STATE_DIR', 'state directory of ingest and query'],
  ['KCHAT_URL', 'address of the chat service, for kchat only'],
  ['KCHAT_API_KEY', 'key of a chat application'],
  ['KCHAT_KEY', 'the same, if KCHAT_API_KEY is not set'],
  ['KCHAT_APP', 'name of the stored key to use'],
  ['KCHAT_USER', 'end user of requests, instead of the login name'],
  ['VISUAL', 'editor for messages in kchat chat'],
  ['EDITOR', 'the same, if VISUAL is not set'],
  ['HF_ENDPOINT', 'mirror of the hub for ks models pull (default https://huggingface.co)'],
  ['HTTPS_PROXY', 'proxy for https addresses, also as https_proxy; never for this machine'],
  ['HTTP_PROXY', 'the same for http addresses'],
  ['NO_PROXY', 'hosts, domains and networks without proxy, separated by commas; * for all'],
  ['NO_COLOR', 'no colours'],
  ['FORCE_COLOR', 'always colours'],
  ['CLICOLOR', '0: no colours'],
  ['CLICOLOR_FORCE', 'always colours'],
  ['TERM', 'dumb: no colours, no live lines'],
  ['COLUMNS', 'width of tables'],
  ['CI', 'no colours, no live lines, no prompts'],
] as const

export type Env = Readonly<Record<string, string | undefined>>

/** The value of a variable; empty counts as absent. */
export function getEnvValue(env: Env, name: (typeof ENVIRONMENT)[number][0]): string | undefined {
  const value = env[name]
  return value === undefined || value === '' ? undefined : value
}

/** Whether a switch variable is on: set and not `0` or `false`. */
export function isEnvOn(env: Env, name: (typeof ENVIRONMENT)[number][0]): boolean {
  const value = getEnvValue(env, name)
  return value !== undefined && value !== '0' && value.toLowerCase() !== 'false'
}
