/** The result of one check of this installation. */
export interface CheckFinding {
  check: string
  state: 'ok' | 'warning' | 'failed'
  found: string
  /** How to fix it. */
  fix?: string
}
