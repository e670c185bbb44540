import { createContext, use, useEffect, useMemo, useSyncExternalStore, type ReactNode } from 'react'
import { questPath } from '../api/client'
import { useResource, type Resource } from '../api/resource'
import type { Detail } from '../api/types'
import { attend } from './attend'
import { LiveQuest, type Snapshot } from './stream'

type Live = { quest: Resource<Detail>; snapshot: Snapshot; now: () => void }

const Context = createContext<Live | null>(null)

const still: Snapshot = { connection: { kind: 'connecting' }, head: 0, version: 0, recent: [], saying: new Map() }
const none = () => () => {}

/** Follow reads a quest and keeps one stream open for all that is shown of it. */
export function Follow({ name, children }: { name: string; children: ReactNode }) {
  const first = useResource<Detail>(questPath(name))
  const loaded = first.data?.name === name
  // The stream begins where the first answer stood; later answers do not move it.
  const stream = useMemo(
    () => (loaded && first.data ? new LiveQuest(name, first.data.events) : undefined),
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [name, loaded],
  )
  useEffect(() => stream && attend(stream), [stream])
  const snapshot = useSyncExternalStore(stream?.subscribe ?? none, stream?.snapshot ?? (() => still))
  const newer = useResource<Detail>(snapshot.version > 0 ? questPath(name) : null, snapshot.version)
  const { data, failure, loading } = snapshot.version > 0 && newer.data ? newer : first
  const { again: firstAgain } = first
  const { again: newerAgain } = newer
  const value = useMemo(
    () => ({
      quest: { data, failure, loading, again: () => { firstAgain(); newerAgain() } },
      snapshot,
      now: () => stream?.now(),
    }),
    [data, failure, loading, firstAgain, newerAgain, snapshot, stream],
  )
  return <Context value={value}>{children}</Context>
}

export function useLive(): Live {
  const live = use(Context)
  if (!live) throw new Error('useLive outside of Follow')
  return live
}

/** useQuestResource reads a projection of the quest, again whenever events came. */
export function useQuestResource<T>(path: string | null): Resource<T> {
  return useResource<T>(path, useLive().snapshot.version)
}
