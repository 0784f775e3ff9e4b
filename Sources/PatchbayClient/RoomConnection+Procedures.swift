public import Wire

/// Remote procedures: one participant calls a method of another through the gateway.
extension RoomConnection {
    /// Calls a method of another participant.
    ///
    /// - Parameters:
    ///   - payload: at most 15,360 bytes of UTF-8.
    ///   - timeout: how long the gateway waits for the callee's answer, 1 ms to 60 s.
    /// - Returns: what the callee answered.
    /// - Throws: `RequestFailure`; its `procedureError` has LiveKit's code if it was the callee that failed, or was not there.
    public func call(
        _ method: String, of callee: Identity, payload: String = "", timeout: Duration = .seconds(10)
    ) async throws(RequestFailure) -> String {
        let call = ProcedureCall(to: callee, method: method, payload: payload, timeoutMs: Int(timeout.inMilliseconds))
        // The gateway's own answer, also when the callee is too slow, gets the usual time to come.
        guard let answer = try await door.ask(.callProcedure(call), timeout: timeout + options.requestTimeout).payload else {
            throw .badAnswer
        }
        return answer
    }

    /// Answers calls of `method` from now on, several at once if need be. The newest handler of a method counts.
    ///
    /// Calls of methods without a handler are answered with 1400, "unsupported method". All calls are told in `events`, too.
    /// At most `StreamLimits.procedureCallsMax` are at work at once; those that still are when the room ends are cancelled.
    public func onProcedure(_ method: String, _ handler: @escaping ProcedureHandler) {
        procedures.set(handler, for: method)
    }

    /// Answers calls of `method` no more.
    public func removeProcedure(_ method: String) {
        procedures.set(nil, for: method)
    }
}
