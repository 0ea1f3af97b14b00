import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineContext } from '../../../library/index.js'
import type { EndUserScope } from '../../../store/rows/chat/conversations.js'
import { isBehindOtherGateways } from '../../../store/rows/chat/turns.js'
import type { RunningTurn } from '../turn.js'

const POLL_MS = 500

/** Waits until no turn of another gateway precedes this one in the conversation, or the turn is aborted. */
export async function waitForEarlierTurns(
  { db, instance }: EngineContext,
  endUser: EndUserScope,
  turn: RunningTurn,
): Promise<void> {
  const { signal, ids } = turn
  while (!signal.aborted && (await db.read(isBehindOtherGateways(endUser, ids, instance))))
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined)
}
