public import Wire

/// Somebody in the room calls a procedure of ours.
public struct ProcedureInvocation: Sendable, Hashable {
    /// The gateway's number for the call.
    public let id: String
    public let caller: Identity
    public let method: String
    /// At most 15,360 bytes of UTF-8.
    public let payload: String
    /// How long the caller waits for the answer.
    public let timeout: Duration
}

/// Answers calls: returns what the caller gets, at most 15,360 bytes of UTF-8.
///
/// A thrown `ProcedureError` reaches the caller as it is (codes 1001–1999 are reserved); everything else as 1500, "application error".
public typealias ProcedureHandler = @Sendable (ProcedureInvocation) async throws -> String
