#!/usr/bin/env node
import { main } from '../dist/kchat/program.js'

main(process.argv.slice(2))
