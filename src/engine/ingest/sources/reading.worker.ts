import { createReadingCalls } from './reading-calls.js'
import { serveCalls } from './thread.js'

/** Entry of the thread that parses responses of servers. */
serveCalls(createReadingCalls())
