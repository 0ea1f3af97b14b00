import { useEffect, useRef, useState } from 'react'
import type { ChatClient } from './client.js'
import { rateTurn, runTurn, stopTurn, type TurnProgress } from './turn.js'

interface ConversationOptions {
  client: ChatClient
  /** whether the application suggests questions after an answer */
  withSuggestions: boolean
  /** turns of a stored conversation, which is continued */
  storedTurns?: readonly TurnProgress[]
  /** called if an answer cannot be stopped or rated */
  onError: (error: unknown) => void
}

export type AppConversation = ReturnType<typeof useAppConversation>

/** State of a conversation with an application, and the actions of its user. */
export function useAppConversation({ client, withSuggestions, storedTurns = [], onError }: ConversationOptions) {
  const [turns, setTurns] = useState(storedTurns)
  /** aborts the request of the last question */
  const running = useRef<AbortController>(undefined)
  const last = turns.at(-1)
  const isRunning = last?.state === 'running'
  const conversationId = turns.findLast((turn) => turn.conversationId !== undefined)?.conversationId
  useEffect(() => () => running.current?.abort(), [])

  const setTurn = (index: number, turn: TurnProgress) =>
    setTurns((current) => [...current.slice(0, index), turn, ...current.slice(index + 1)])
  const ask = (question: string, inputs: Record<string, string>) => {
    const index = turns.length
    const controller = new AbortController()
    running.current = controller
    void runTurn({ client, question, conversationId, inputs, withSuggestions, signal: controller.signal }, (turn) => {
      // Suggestions may arrive after the conversation was replaced by a new one.
      if (running.current === controller) setTurn(index, turn)
    })
  }
  const stop = () => {
    if (last !== undefined) stopTurn(client, last).catch(onError)
  }
  /** @returns whether the service stored the rating */
  const rate = async (index: number, rating: TurnProgress['rating'], remark?: string): Promise<boolean> => {
    const turn = turns[index]
    if (turn === undefined) return false
    const { rating: _, ...rest } = turn
    try {
      await rateTurn(client, turn, rating, remark)
      setTurn(index, rating === undefined ? rest : { ...rest, rating })
      return true
    } catch (error) {
      onError(error)
      return false
    }
  }
  const restart = () => {
    if (isRunning) return
    running.current = undefined
    setTurns([])
  }
  return { turns, isRunning, conversationId, ask, stop, rate, restart }
}
