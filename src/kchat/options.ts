/** Options that every command takes. */
export interface Common {
  url?: string
  context?: string
  app?: string
  user?: string
  json?: boolean
  format?: string
  fields?: string
  quiet?: boolean
  debug?: boolean
  color?: boolean
  timeout?: string
  autostart?: boolean
}
