#!/usr/bin/env node
// `ks` from a working copy: builds what changed first, then runs it.
'use strict'
const { join } = require('node:path')

void run()

async function run() {
  const { buildIfStale } = await import('../scripts/build.js')
  buildIfStale()
  const { main } = await import('../dist/cli/main.js')
  await main(process.argv.slice(2), join(__dirname, '..', '/'))
}
