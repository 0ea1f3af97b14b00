#!/usr/bin/env node
'use strict'
const { existsSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')

/** exit code 9 in docs/errors.md: not configured */
const EXIT_NOT_CONFIGURED = 9

void run()

/** A package may contain binaries for one system and one version of Node (`scripts/package`). */
function findMismatch() {
  const { madeFor } = JSON.parse(readFileSync(join(__dirname, '..', 'package.json'), 'utf8'))
  if (madeFor === undefined) return undefined
  const { os, cpu, abi, node } = madeFor
  const { platform, arch, version, versions } = process
  if (os[0] === platform && cpu[0] === arch && abi === versions.modules) return undefined
  const here = `this is ${platform}-${arch} with Node ${version}`
  return `this package was made for ${os[0]}-${cpu[0]} with Node ${node}, ${here}: make one here, see docs/install.md`
}

async function run() {
  const reason = findMismatch()
  if (reason !== undefined) {
    process.stderr.write(`ksd: ${reason}\n`)
    process.exitCode = EXIT_NOT_CONFIGURED
    return
  }
  await import('../dist/lib/no-debugger.js')
  // the same program in fewer files, if the build created a bundle
  const bundle = join(__dirname, '..', 'dist', 'bundle', 'ksd.js')
  const { main } = existsSync(bundle)
    ? await import(pathToFileURL(bundle).href)
    : await import('../dist/daemon/main.js')
  await main(process.argv.slice(2))
}
