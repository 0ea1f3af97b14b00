/** One finding about this installation. */
export interface Finding {
  check: string
  state: 'ok' | 'warning' | 'failed'
  found: string
  /** what to do about it */
  fix?: string
}
