import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const DAY_MS = 86_400_000

/** Warns once a day if the service and this program have different minor versions. */
export function warnAboutVersionSkew(options: {
  program: 'ks' | 'kchat'
  stateDir: string
  ownVersion: string
  serviceVersion: string
  warn: (text: string) => void
}): void {
  const markFile = join(options.stateDir, 'version-skew')
  try {
    if (Date.now() - statSync(markFile).mtimeMs < DAY_MS) return
  } catch {
    // No warning so far.
  }
  try {
    mkdirSync(options.stateDir, { recursive: true, mode: 0o700 })
    writeFileSync(markFile, `${options.serviceVersion}\n`, { mode: 0o600 })
  } catch {
    // Without the mark the warning is repeated, which is acceptable.
  }
  const { program, ownVersion, serviceVersion } = options
  options.warn(`${program}: the daemon is ${serviceVersion}, ${program} is ${ownVersion}; \`ks daemon restart\``)
}
