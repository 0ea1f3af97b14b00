#!/usr/bin/env node
await import('../dist/lib/no-debugger.js')
const { main } = await import('../dist/daemon/main.js')
await main(process.argv.slice(2))
