/** The result of one check of this installation. */
export interface CheckFinding {
  /** Name of the check. */
  check: string
  state: 'ok' | 'warning' | 'failed'
  /** What the check found, for people. */
  found: string
  /** How to fix a problem; absent without one. */
  fix?: string
}
