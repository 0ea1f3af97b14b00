#!/usr/bin/env node
'use strict'
const { existsSync } = require('node:fs')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')

void run()

async function run() {
  await import('../dist/lib/no-debugger.js')
  // the same in fewer files, where the build could make it
  const bundle = join(__dirname, '..', 'dist', 'bundle', 'ksd.js')
  const { main } = existsSync(bundle)
    ? await import(pathToFileURL(bundle).href)
    : await import('../dist/daemon/main.js')
  await main(process.argv.slice(2))
}
