import Wire

extension Room {
    /// Asks the callee. The caller's answer comes when the callee's has come, its time is over or it has left.
    mutating func callProcedure(
        _ call: ProcedureCall, by requester: Requester, at index: Int, now: Instant, into effects: inout [Effect]
    ) throws(RequestError) {
        let caller = members[at: index]
        try caller.checkMayPublishData()
        guard (1...Limits.procedureNameBytesMax).contains(call.method.utf8.count) else {
            throw RequestError(.invalidArgument, "`method` must be 1 to \(Limits.procedureNameBytesMax) bytes")
        }
        let longest = Int(Limits.procedureTimeoutMax.inMilliseconds)
        guard (1...longest).contains(call.timeoutMs) else {
            throw RequestError(.invalidArgument, "`timeout_ms` must be 1 to \(longest)")
        }
        guard call.payload.utf8.count <= ProtocolLimits.rpcPayloadBytesMax else { throw RequestError(.requestTooLarge) }
        guard let callee = handles[call.to] else { throw RequestError(.recipientNotFound) }
        guard procedures.count(from: requester.handle) < Limits.proceduresPendingMax else {
            throw RequestError(
                .limitExceeded, "\(Limits.proceduresPendingMax) calls already wait for an answer; wait for one of them", retryable: true)
        }
        let id = identifiers.procedureCall()
        let deadline = now + .milliseconds(call.timeoutMs)
        procedures.begin(.init(id: id, caller: requester.handle, request: requester.id, callee: callee, deadline: deadline))
        wakeUp.include(deadline)
        let event = Event.procedureCalled(
            requestID: id, from: caller.signature, method: call.method, payload: call.payload, timeoutMilliseconds: call.timeoutMs)
        send(event, to: [callee], into: &effects)
    }

    mutating func answerProcedure(_ answer: ProcedureAnswer, by requester: Requester, into effects: inout [Effect]) throws(RequestError) {
        guard procedures.isPending(answer.requestId, at: requester.handle) else {
            throw RequestError(.notFound, "no call of this `request_id` waits for your answer; it may have come too late")
        }
        guard (answer.payload == nil) != (answer.error == nil) else {
            throw RequestError(.invalidArgument, "answer with either `payload` or `error`")
        }
        guard let call = procedures.finish(answer.requestId, by: requester.handle) else { return }
        if let payload = answer.payload {
            guard payload.utf8.count <= ProtocolLimits.rpcPayloadBytesMax else {
                // Both must know: the caller has its answer with this, and the callee cannot try again.
                fail(call, .responseTooLarge, into: &effects)
                let refusal = RequestError(
                    .limitExceeded, "`payload` is over \(ProtocolLimits.rpcPayloadBytesMax) bytes; the caller got error 1504")
                emit(.reject(refusal, re: requester.id, to: requester.handle), into: &effects)
                return
            }
            reply(.procedureAnswered(payload: payload), to: Requester(handle: call.caller, id: call.request), into: &effects)
        } else if let error = answer.error {
            let message = error.message.prefix(bytes: ProtocolLimits.rpcErrorBytesMax)
            fail(call, ProcedureError(code: error.code, message: message), into: &effects)
        }
        reply(to: requester, into: &effects)
    }

    /// A caller that gave no `id` wants no answer.
    private func fail(_ call: PendingProcedureCalls.Call, _ error: ProcedureError, into effects: inout [Effect]) {
        if let id = call.request { emit(.reject(RequestError(error), re: id, to: call.caller), into: &effects) }
    }

    mutating func abandonProcedures(of leaver: ParticipantHandle, into effects: inout [Effect]) {
        for call in procedures.abandon(leaver) { fail(call, .recipientDisconnected, into: &effects) }
    }

    mutating func expireProcedures(at now: Instant, into effects: inout [Effect]) {
        for call in procedures.expire(at: now) { fail(call, .responseTimeout, into: &effects) }
    }
}

extension String {
    /// As many whole characters from the start as fit into this many bytes of UTF-8.
    package func prefix(bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var count = 0
        return String(
            prefix { character in
                count += character.utf8.count
                return count <= limit
            })
    }
}
