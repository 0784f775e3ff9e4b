internal import COgg

/// libogg's encoder for one logical stream: packets in, pages with CRC out (RFC 3533).
@safe struct OggPageWriter: ~Copyable {
    /// On the heap because libogg's pages point into it.
    private let stream: UnsafeMutablePointer<ogg_stream_state>
    private var packetNumber: Int64 = 0

    init(serial: UInt32) throws(OggOpusError) {
        let stream = UnsafeMutablePointer<ogg_stream_state>.allocate(capacity: 1)
        guard unsafe ogg_stream_init(stream, Int32(bitPattern: serial)) == 0 else {
            unsafe stream.deallocate()
            throw .outOfMemory
        }
        unsafe self.stream = stream
    }

    deinit {
        unsafe ogg_stream_clear(stream)
        unsafe stream.deallocate()
    }

    /// libogg copies the bytes. `granule` is the position after the packet's last sample.
    mutating func add(_ packet: [UInt8], granule: Int64, endsStream: Bool = false) throws(OggOpusError) {
        let (stream, number) = unsafe (self.stream, packetNumber)
        // libogg only reads the packet, though its struct wants a mutable pointer.
        let code = unsafe packet.withUnsafeBufferPointer { bytes in
            var entry = unsafe ogg_packet(
                packet: UnsafeMutablePointer(mutating: bytes.baseAddress), bytes: bytes.count, b_o_s: number == 0 ? 1 : 0,
                e_o_s: endsStream ? 1 : 0, granulepos: granule, packetno: number)
            return unsafe ogg_stream_packetin(stream, &entry)
        }
        guard code == 0 else { throw .outOfMemory }
        packetNumber += 1
    }

    /// Everything added so far, as pages.
    mutating func flush() -> [UInt8] {
        var bytes: [UInt8] = []
        var page = unsafe ogg_page()
        while unsafe ogg_stream_flush(stream, &page) != 0 {
            unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: page.header, count: page.header_len))
            unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: page.body, count: page.body_len))
        }
        return bytes
    }
}
