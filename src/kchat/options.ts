/** Entries of a list at a terminal, unless `--limit` or `--all` is given. */
export const DEFAULT_LIST_LIMIT = 20

/** Options of every command. */
export interface KchatOptions {
  url?: string
  context?: string
  app?: string
  user?: string
  json?: boolean
  format?: string
  fields?: string
  jq?: string
  template?: string
  /** false: print long output without a pager */
  pager?: boolean
  header?: boolean
  truncate?: boolean
  quiet?: boolean
  verbose?: boolean
  debug?: boolean
  color?: boolean
  timeout?: string
  autostart?: boolean
  /** only of commands that manage applications */
  tokenFile?: string
}

/** Additional options of commands that manage applications. */
export interface ManageOptions extends KchatOptions {
  yes?: boolean
  /** false: never prompt */
  input?: boolean
}
