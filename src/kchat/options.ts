/** Options that every command takes. */
export interface Common {
  url?: string
  context?: string
  app?: string
  user?: string
  json?: boolean
  format?: string
  fields?: string
  jq?: string
  template?: string
  /** false: long output at once, also at a terminal */
  pager?: boolean
  header?: boolean
  truncate?: boolean
  quiet?: boolean
  verbose?: boolean
  debug?: boolean
  color?: boolean
  timeout?: string
  autostart?: boolean
  /** of commands that manage applications */
  tokenFile?: string
}

/** Options of commands that manage applications, beside those. */
export interface ManageOptions extends Common {
  yes?: boolean
  /** false: never ask */
  input?: boolean
}
