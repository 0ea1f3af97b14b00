import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { vi } from 'vitest'

/** Makes a folder unreadable for this process, also for root, which permissions do not stop. */
export function refuseToOpen(folder: string): { end(): void } {
  const { openSync, readdirSync } = fs
  const check = (path: unknown) => {
    if (path === folder) throw Object.assign(new Error(`EACCES: permission denied, ${folder}`), { code: 'EACCES' })
  }
  const spies = [
    vi.spyOn(fs, 'openSync').mockImplementation((path, ...rest) => {
      check(path)
      return openSync(path, ...rest)
    }),
    // Systems without `/proc` read a folder by its name.
    vi.spyOn(fs, 'readdirSync').mockImplementation(((path: string, options: { withFileTypes: true }) => {
      check(path)
      return readdirSync(path, options)
    }) as typeof fs.readdirSync),
  ]
  syncBuiltinESMExports()
  return {
    end() {
      for (const spy of spies) spy.mockRestore()
      syncBuiltinESMExports()
    },
  }
}
