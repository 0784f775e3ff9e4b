import Glibc

@testable import TLSRecords

/// TLS 1.3 records with any content type and content, sealed with the keys of a client's connection.
final class CraftedRecords {
    private let socket: RawSocket
    private var ciphers: RecordCiphers

    init(socket: RawSocket, ciphers: consuming RecordCiphers) {
        self.socket = socket
        self.ciphers = ciphers
    }

    func record(_ type: UInt8, _ content: [UInt8]) -> [UInt8] {
        var record = [UInt8](repeating: 0, count: RecordCipher.headerBytes) + content
        record += [UInt8](repeating: 0, count: RecordCipher.sealedBytes(content.count) - record.count)
        _ = record.withUnsafeMutableBytes { ciphers.sealing.seal($0.baseAddress!, content: content.count, typeByte: type) }
        return record
    }

    /// A KeyUpdate, after which records are sealed with the next key.
    func keyUpdate(requested: Bool = false) -> [UInt8] {
        let update = record(22, [24, 0, 0, 1, requested ? 1 : 0])
        _ = ciphers.sealing.update()
        return update
    }

    func send(_ records: [UInt8]) throws { try socket.writeAsTheyAre(records) }

    /// Reads until the connection ends.
    ///
    /// - Returns: the description of the first fatal alert; nil if there was none.
    func alert() throws -> UInt8? {
        var bytes: [UInt8] = []
        while true {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            var entry = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 10_000) == 1 else { return nil }
            let count = recv(socket.descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
            while bytes.count >= 5 {
                let sealed = Int(bytes[3]) << 8 | Int(bytes[4])
                guard bytes.count >= 5 + sealed else { break }
                var record = Array(bytes[..<(5 + sealed)])
                bytes.removeFirst(5 + sealed)
                let opened = record.withUnsafeMutableBytes { ciphers.opening.open($0.baseAddress!, sealed: sealed) }
                if case .content(2, type: 21) = opened, record[5] == 2 { return record[6] }
            }
        }
    }
}
