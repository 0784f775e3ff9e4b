internal import Wire

extension Room {
    /// Forwards a participant's procedure call. The caller is answered when the callee answers, leaves or times out.
    mutating func callProcedure(_ call: ProcedureCall, by requester: Requester, at index: Int) throws(RequestError) {
        let caller = members[at: index]
        try caller.checkMayPublishData()
        try begin(call, as: caller.signature, for: .participant(requester.handle, request: requester.id))
    }

    /// Forwards a procedure call of an administrator, whom the callee sees as a sender without identity.
    mutating func callProcedure(_ call: ProcedureCall, number: UInt64) {
        do throws(RequestError) {
            try begin(call, as: Identity(text: ""), for: .administrator(number))
        } catch {
            emit(.procedureEnded(number, .failure(error)))
        }
    }

    private mutating func begin(_ call: ProcedureCall, as sender: Identity, for caller: PendingProcedureCalls.Caller) throws(RequestError) {
        guard (1...Limits.procedureNameBytesMax).contains(call.method.utf8.count) else {
            throw RequestError(.invalidArgument, "`method` must be 1 to \(Limits.procedureNameBytesMax) bytes")
        }
        let longest = Int(Limits.procedureTimeoutMax.inMilliseconds)
        guard (1...longest).contains(call.timeoutMs) else {
            throw RequestError(.invalidArgument, "`timeout_ms` must be 1 to \(longest)")
        }
        guard call.payload.utf8.count <= ProtocolLimits.rpcPayloadBytesMax else { throw RequestError(.requestTooLarge) }
        guard let callee = members.handle(of: call.to) else { throw RequestError(.recipientNotFound) }
        guard procedures.count(sharingLimitWith: caller) < Limits.proceduresPendingMax else {
            throw RequestError(
                .limitExceeded, "\(Limits.proceduresPendingMax) calls are pending already; wait for one of them", retryable: true)
        }
        let id = identifiers.procedureCall()
        let deadline = now + .milliseconds(call.timeoutMs)
        procedures.begin(.init(id: id, caller: caller, callee: callee, deadline: deadline))
        wakeUp(by: deadline)
        let event = Event.procedureCalled(
            requestID: id, from: sender, method: call.method, payload: call.payload, timeoutMilliseconds: call.timeoutMs)
        send(event, to: [callee])
    }

    mutating func answerProcedure(_ answer: ProcedureAnswer, by requester: Requester) throws(RequestError) {
        guard procedures.isPending(answer.requestId, at: requester.handle) else {
            throw RequestError(.notFound, "no pending call has this `request_id`; it may have timed out")
        }
        guard (answer.payload == nil) != (answer.error == nil) else {
            throw RequestError(.invalidArgument, "answer with either `payload` or `error`")
        }
        guard let call = procedures.finish(answer.requestId, by: requester.handle) else { return }
        if let payload = answer.payload {
            guard payload.utf8.count <= ProtocolLimits.rpcPayloadBytesMax else {
                // The caller is answered now, and the callee cannot try again.
                end(call, .failure(.responseTooLarge))
                let error = RequestError(
                    .limitExceeded, "`payload` is over \(ProtocolLimits.rpcPayloadBytesMax) bytes; the caller got error 1504")
                emit(.reject(error, re: requester.id, to: requester.handle))
                return
            }
            end(call, .success(payload))
        } else if let error = answer.error {
            let message = error.message.prefix(bytes: ProtocolLimits.rpcErrorBytesMax)
            end(call, .failure(ProcedureError(code: error.code, message: message)))
        }
        reply(to: requester)
    }

    /// Answers the caller. A request without `id` gets no answer.
    private mutating func end(_ call: PendingProcedureCalls.Call, _ outcome: Result<String, ProcedureError>) {
        switch (call.caller, outcome) {
        case (.participant(let handle, let request?), .success(let payload)):
            emit(.reply(.procedureAnswered(payload: payload), re: request, to: handle))
        case (.participant(let handle, let request?), .failure(let error)): emit(.reject(RequestError(error), re: request, to: handle))
        case (.participant(_, nil), _): break
        case (.administrator(let number), _): emit(.procedureEnded(number, outcome.mapError { RequestError($0) }))
        }
    }

    mutating func abandonProcedures(of leaver: ParticipantHandle) {
        for call in procedures.abandon(leaver) { end(call, .failure(.recipientDisconnected)) }
    }

    /// The room ends: administrators are the only callers that still wait.
    mutating func abandonAdministrativeProcedures() {
        for call in procedures.takeAdministrative() { end(call, .failure(.recipientDisconnected)) }
    }

    mutating func expireProcedures() {
        for call in procedures.expire(at: now) { end(call, .failure(.responseTimeout)) }
    }
}

extension String {
    /// The longest prefix of whole characters that fits into `limit` bytes of UTF-8.
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
