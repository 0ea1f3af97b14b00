import { chmodSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CliHome, cliHome } from '../helpers/cli.js'

let home: CliHome
/** A desktop program that records its arguments. */
let desktop: Record<string, string>
beforeAll(() => {
  home = cliHome()
  const program = home.file('bin/xdg-open', `#!/bin/sh\nprintf '%s' "$*" > "${home.dir}/opened"\n`)
  chmodSync(program, 0o755)
  desktop = { DISPLAY: ':7', PATH: `${home.dir}/bin:${process.env.PATH}` }
})
afterAll(() => home.end())

test('`ks console --no-open` opens no browser, and prints an address that signs in a single tab', async () => {
  const { stdout, code } = await home.ks(['console', '--no-open'], { env: desktop })
  expect(code).toBe(0)
  const address = new URL(stdout.trim())
  expect(address.hostname).toBe('127.0.0.1')
  expect(address.pathname).toBe('/console/')
  const page = await fetch(address)
  expect(await page.text()).toContain('<div id="root">')
  const exchange = () =>
    fetch(new URL('/daemon/console/sessions', address), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code: new URLSearchParams(address.hash.slice(1)).get('code') }),
    })
  expect([(await exchange()).status, (await exchange()).status]).toEqual([201, 401])
  expect(() => statSync(`${home.dir}/opened`)).toThrow()
  // No log contains the code.
  const code43 = new URLSearchParams(address.hash.slice(1)).get('code') ?? 'none'
  expect((await home.ks(['daemon', 'logs', '-n', '1000'])).stdout).not.toContain(code43)
})

test('`ks console` opens a file that only its user can read, so that no program gets the code as an argument', async () => {
  const { stdout, code } = await home.ks(['console'], { env: desktop })
  expect(code).toBe(0)
  const opened = readFileSync(`${home.dir}/opened`, 'utf8')
  expect(opened).toMatch(/^file:\/\/.*console\.html$/)
  expect(opened).not.toContain('code')
  const file = fileURLToPath(opened)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8')).toContain(stdout.trim())
})

test('`ks console` without a desktop asks to open the address by hand', async () => {
  const { stderr, code } = await home.ks(['console'], { env: { DISPLAY: '', WAYLAND_DISPLAY: '' } })
  expect(code).toBe(0)
  expect(stderr).toContain('no browser could be opened; open the address above')
})
