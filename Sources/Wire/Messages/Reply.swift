/// The answer to a request that was done: `{"type":"reply","re":id,"data":{…}}`.
public enum Reply: Sendable, Hashable {
    case done
    case published(TrackInfo)
    case textSent(id: String)
    case procedureAnswered(payload: String)
    case pong(Int64)
    case cleared(ClearedPlayout)
    case token(String, expiresAt: Int64)
}
