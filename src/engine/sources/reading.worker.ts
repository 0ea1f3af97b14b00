import { readingCalls } from './reading-calls.js'
import { serveCalls } from './thread.js'

/** Entry of the thread that reads what the servers of sources answer. */
serveCalls(readingCalls())
