// The candidate of a contract, for its owner: decisions that differ, and their keys.
import { useAnswer } from './clock.js';
import { grouped, type ShownContract, some, weir } from './node-client.js';
import { FaultLine, Fold, ScrollingTable, ShownCount } from './parts.js';

const SHOWN = 20;
const REFRESH_MS = 2_000;

interface CandidateProps {
  readonly contract: ShownContract;
  readonly isOwn: boolean;
}

export function CandidateRows({ contract, isOwn }: CandidateProps) {
  return (
    <Fold title={`Candidate ${limiterWords(contract.candidate?.limiter ?? {})}`} isOpen>
      {() => (isOwn ? <Differences contract={contract} /> : null)}
    </Fold>
  );
}

function Differences({ contract: { machine: slug, id: contract_id } }: Pick<CandidateProps, 'contract'>) {
  const params = { slug, contract_id };
  const [compared, fault] = useAnswer(REFRESH_MS, () =>
    weir.call('showCandidate', { params, query: { limit: SHOWN } }),
  );
  if (compared === undefined) return <FaultLine words={fault} />;
  const { requests, both, only_limiter, only_candidate, by_key, since, keys } = compared;
  return (
    <>
      <dl class="figures">
        <ShownCount name="Newly refused" value={grouped(only_candidate)} isBad={only_candidate > 0} />
        <ShownCount name="Newly admitted" value={grouped(only_limiter)} />
        <ShownCount name="Limited by both" value={grouped(both)} />
      </dl>
      <p class="quiet">
        {some(requests, 'request')} since cycle {grouped(since)}
        {keys > SHOWN ? ` · ${grouped(keys)} keys, those with most differences` : ''}
      </p>
      {by_key.length === 0 ? null : (
        <ScrollingTable
          label={`Keys that the candidate of ${contract_id} would treat differently`}
          class="keys"
          columns={[['Key'], ['Newly refused', 'n'], ['Newly admitted', 'n'], ['Limited by both', 'n wide']]}
          rows={by_key.map((line) => [
            line.key,
            grouped(line.only_candidate),
            grouped(line.only_limiter),
            grouped(line.both),
          ])}
        />
      )}
    </>
  );
}

function limiterWords(limiter: object): string {
  const { threshold, within, primitive, params } = limiter as {
    readonly threshold?: number;
    readonly within?: number;
    readonly primitive?: string;
    readonly params?: object;
  };
  if (threshold !== undefined && within !== undefined) return `${grouped(threshold)} in ${some(within, 'cycle')}`;
  const given = Object.entries(params ?? {}).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return `${primitive ?? ''} ${given.join(', ')}`.trim();
}
