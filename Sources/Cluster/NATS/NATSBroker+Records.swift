/// Records of the bucket.
extension NATSBroker {
    /// Size of the largest snapshot that the server accepts, in bytes.
    package var snapshotBytesMax: Int { max(0, exchange.payloadMax - NATSLimits.recordFieldsBytesMax) }

    /// The stream's leader answers, unlike direct reads, which replicas answer too.
    package func read(_ key: String, completion: @escaping @Sendable (Result<StoredRecord?, BrokerError>) -> Void) {
        readEntry(key) { result in
            // A deleted record is none, although its marker has a revision.
            completion(result.map { entry in entry.flatMap { $0.isMarker ? nil : $0.record } })
        }
    }

    /// A marker of a deleted record counts as no record: it is replaced after a second look, with one more request or two.
    package func write(
        _ value: [UInt8], of key: String, after revision: UInt64, completion: @escaping @Sendable (Result<UInt64, BrokerError>) -> Void
    ) {
        store(value, key, after: revision) { [self] result in
            guard revision == 0, result == .failure(.conflict) else { return completion(result) }
            readEntry(key) { [self] found in
                guard case .success(let entry?) = found, entry.isMarker else { return completion(.failure(.conflict)) }
                store(value, key, after: entry.record.revision, completion)
            }
        }
    }

    private func readEntry(_ key: String, _ completion: @escaping @Sendable (Result<NATSReply.Entry?, BrokerError>) -> Void) {
        guard NATSSettings.isKey(key) else { return completion(.failure(.badKey)) }
        let payload = NATSReply.readRequest(subject: settings.subject(ofKey: key))
        exchange.request("$JS.API.STREAM.MSG.GET.\(settings.stream)", payload) { answer in
            completion(answer.mapError(\.brokerError).flatMap(NATSReply.entry))
        }
    }

    private func store(
        _ value: [UInt8], _ key: String, after revision: UInt64, _ completion: @escaping @Sendable (Result<UInt64, BrokerError>) -> Void
    ) {
        guard NATSSettings.isKey(key) else { return completion(.failure(.badKey)) }
        let stream = settings.stream
        exchange.request(settings.subject(ofKey: key), value, expectedRevision: revision) { answer in
            completion(answer.mapError(\.brokerError).flatMap { NATSReply.revision($0, stream: stream) })
        }
    }
}

extension BrokerError {
    fileprivate static let badKey = refused("keys consist of letters, digits and -_=., without empty parts between dots")
}

extension NATSRequests.Failure {
    fileprivate var brokerError: BrokerError {
        switch self {
        case .unavailable, .noResponders: .unavailable
        case .refused(let reason): .refused(reason)
        }
    }
}
