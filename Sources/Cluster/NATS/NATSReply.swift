internal import Wire

/// Requests to JetStream's API and its answers, in JSON. Answers are not trusted: whatever cannot be read is no answer.
package enum NATSReply {
    /// A record, or the marker that a client leaves when it deletes one.
    package struct Entry: Hashable {
        package var record: StoredRecord
        package var isMarker: Bool
    }

    /// The state of the bucket.
    enum Bucket: Hashable {
        case exists
        case isMissing
        case failed(NATSError)
    }

    private enum Code {
        static let streamNameInUse = 10058
        static let streamNotFound = 10059
        static let noMessage = 10037
        /// The second is what newer servers say while another write of the same record is under way.
        static let wrongLastSequence = [10071, 10164]
        static let noJetStream = [10039, 10076]
        /// Of HTTP's codes, which JetStream's errors also have.
        static let unavailable = 503
    }

    private struct Failure: Decodable {
        var code: Int?
        var errCode: Int?
        var description: String?

        /// The error of a read or write of a record.
        var brokerError: BrokerError {
            if let errCode, Code.wrongLastSequence.contains(errCode) { return .conflict }
            // The bucket is made again after a reconnect; a cluster without a leader elects one.
            if errCode == Code.streamNotFound || code == Code.unavailable { return .unavailable }
            return .refused(description ?? "error \(errCode ?? code ?? 0)")
        }
    }

    private static func decode<T: Decodable>(_ type: T.Type, _ bytes: [UInt8]) -> T? {
        try? JSON.decode(type, from: bytes, names: .snakeCase)
    }

    // MARK: Reading

    private struct LastBySubject: Encodable {
        var lastBySubj: String
    }

    private struct Message: Decodable {
        struct Content: Decodable {
            var seq: UInt64
            /// Base64. Absent if empty.
            var data: String?
            var hdrs: String?
        }

        var message: Content?
        var error: Failure?
    }

    static func readRequest(subject: String) -> [UInt8] {
        (try? JSON.encode(LastBySubject(lastBySubj: subject), names: .snakeCase)) ?? []
    }

    /// - Returns: nil if there is neither a record nor a marker.
    package static func entry(_ answer: [UInt8]) -> Result<Entry?, BrokerError> {
        guard let decoded = decode(Message.self, answer) else { return .failure(.unavailable) }
        if let error = decoded.error { return error.errCode == Code.noMessage ? .success(nil) : .failure(error.brokerError) }
        guard let message = decoded.message, message.seq > 0, let value = Base64.standard.decode((message.data ?? "").utf8),
            let headers = Base64.standard.decode((message.hdrs ?? "").utf8)
        else { return .failure(.unavailable) }
        return .success(Entry(record: StoredRecord(value: value, revision: message.seq), isMarker: isMarker(headers)))
    }

    /// Whether headers say that the record is deleted. Servers of version 2.11 give the reason of markers that they write themselves.
    private static func isMarker(_ headers: [UInt8]) -> Bool {
        headers.split { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }.contains { line in
            let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1)
            guard parts.count == 2 else { return false }
            let value = String(decoding: parts[1], as: UTF8.self).trimmed
            return switch String(decoding: parts[0], as: UTF8.self) {
            case "KV-Operation": value == "DEL" || value == "PURGE"
            case "Nats-Marker-Reason": true
            default: false
            }
        }
    }

    // MARK: Writing

    private struct Acknowledgement: Decodable {
        var stream: String?
        var seq: UInt64?
        var error: Failure?
    }

    /// The revision of a written record.
    package static func revision(_ answer: [UInt8], stream: String) -> Result<UInt64, BrokerError> {
        guard let decoded = decode(Acknowledgement.self, answer) else { return .failure(.unavailable) }
        if let error = decoded.error { return .failure(error.brokerError) }
        guard decoded.stream == stream, let revision = decoded.seq, revision > 0 else { return .failure(.unavailable) }
        return .success(revision)
    }

    // MARK: The bucket

    /// The stream of a key-value bucket with one revision per key, as clients make it. Times are in nanoseconds.
    private struct Stream: Encodable {
        var name: String
        var subjects: [String]
        var numReplicas: Int
        var retention = "limits"
        var storage = "file"
        var discard = "new"
        var maxAge = ClusterLimits.recordAgeMax.inNanoseconds
        var duplicateWindow: Int64 = 120 * 1_000_000_000
        var maxMsgsPerSubject = 1
        var maxMsgs = -1
        var maxBytes = -1
        var maxMsgSize = -1
        var maxConsumers = -1
        var denyDelete = true
        var allowRollupHdrs = true
        var allowDirect = true
    }

    private struct Outcome: Decodable {
        var type: String
        var error: Failure?
    }

    static func createRequest(_ settings: NATSSettings) -> [UInt8] {
        let stream = Stream(name: settings.stream, subjects: [settings.subject(ofKey: ">")], numReplicas: settings.replicas)
        return (try? JSON.encode(stream, names: .snakeCase)) ?? []
    }

    /// - Parameter answer: to a request for information, or to make the bucket.
    static func bucket(_ answer: Result<[UInt8], NATSRequests.Failure>) -> Bucket {
        switch answer {
        case .failure(.noResponders): return .failed(.noJetStream)
        case .failure(.unavailable): return .failed(.unreachable("JetStream does not answer"))
        case .failure(.refused(let reason)): return .failed(.bucket(reason))
        case .success(let answer):
            guard let decoded = decode(Outcome.self, answer) else { return .failed(.bucket("the answer cannot be read")) }
            guard let error = decoded.error else { return .exists }
            return switch error.errCode {
            case Code.streamNotFound: .isMissing
            // Another node has just made it, or an administrator with other settings.
            case Code.streamNameInUse: .exists
            case .some(let code) where Code.noJetStream.contains(code): .failed(.noJetStream)
            default: .failed(.bucket(error.description ?? "error \(error.errCode ?? 0)"))
            }
        }
    }
}

extension String {
    fileprivate var trimmed: Substring {
        var text = self[...]
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }
}
