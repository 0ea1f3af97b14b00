#!/usr/bin/env node
import { readFileSync } from 'node:fs'

const argv = process.argv.slice(2)
const root = new URL('..', import.meta.url)

// The version is asked for often, by people and scripts, and needs nothing of the rest.
if (argv[0] === '--version') {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
  process.stdout.write(`ks ${version}\n`)
} else {
  const { fileURLToPath } = await import('node:url')
  const { main } = await import('../dist/cli/main.js')
  await main(argv, fileURLToPath(root))
}
