import CLibwebsockets
import Foundation
import Glibc
import Testing
import Wire

@testable import Sockets

/// Behaviour when descriptors run out. Each test runs in a process of its own, because the limit applies to the process.
@Suite(.timeLimit(.minutes(1)))
struct ResourceTests {
    private final class Counter: SocketDelegate {
        var failures = 0
        var loop: Loop?

        func acceptFailed(_ error: AcceptError) { failures += 1 }
        func woken() {}
        func opened(_ connection: Connection) {}
        func received(binary message: UnsafeRawBufferPointer, from connection: Connection) {}
        func received(text message: UnsafeRawBufferPointer, from connection: Connection) {}
        func ponged(_ payload: UnsafeRawBufferPointer, from connection: Connection) {}
        func writable(_ connection: Connection) {}
        func closed(_ connection: Connection, _ end: ConnectionEnd) {}
        func timerRang() { loop?.stop() }
    }

    static func setSoftLimit(_ count: UInt64) {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = rlim_t(count)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// The target of each open descriptor.
    static var openDescriptors: [Int: String] {
        let numbers = (0..<256).filter { fcntl(Int32($0), F_GETFD) >= 0 }
        return Dictionary(
            uniqueKeysWithValues: numbers.map { number in
                (number, (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")) ?? "unknown")
            })
    }

    private static func connect(to port: Int) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return result == 0 ? descriptor : -1
    }

    @Test func aListenerPausesWhenDescriptorsRunOut() async {
        await #expect(processExitsWith: .success) {
            let counter = Counter()
            guard let listener = try? Listener(host: "127.0.0.1", port: 0, shared: false),
                let loop = try? Loop(settings: LoopSettings(), delegate: counter)
            else { exit(2) }
            counter.loop = loop
            loop.listen(on: listener)
            // In the backlog, then no descriptor to accept it with.
            guard ResourceTests.connect(to: listener.port) >= 0 else { exit(3) }
            ResourceTests.setSoftLimit(0)
            loop.wake(at: loop.now + .milliseconds(1_050))
            var before = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before)
            loop.run()
            var after = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after)
            let milliseconds = (after.tv_sec - before.tv_sec) * 1_000 + (after.tv_nsec - before.tv_nsec) / 1_000_000
            guard milliseconds < 300 else { exit(4) }
            guard 5...20 ~= counter.failures, loop.counters.acceptFailures == UInt64(counter.failures) else { exit(5) }
            exit(0)
        }
    }

    @Test func loopsLeaveNoDescriptorsWhetherTheyRanOrCouldNotBeMade() async {
        await #expect(processExitsWith: .success) {
            let counter = Counter()
            // Fails last, after the libuv loop and the libwebsockets context exist.
            let settings = LoopSettings(client: .authority(path: "/dev/null"))
            func fail() {
                if (try? Loop(settings: settings, delegate: counter)) != nil { exit(2) }
            }
            func succeed() {
                guard let loop = try? Loop(settings: LoopSettings(), delegate: counter) else { exit(3) }
                counter.loop = loop
                loop.wake(at: loop.now)
                loop.run()
            }
            // Libraries may open something for themselves at first.
            fail()
            succeed()
            let before = ResourceTests.openDescriptors
            for _ in 0..<5 { fail() }
            for _ in 0..<5 { succeed() }
            let after = ResourceTests.openDescriptors
            if after != before { print("open before:", before, "and after:", after) }
            exit(after == before ? 0 : 1)
        }
    }

    /// The multicast groups of all netlink sockets of this process, as bits.
    static var netlinkGroups: [UInt32] {
        openDescriptors.keys.compactMap { number in
            // sockaddr_nl (netlink(7)): the family, the port and the groups.
            var address = [UInt32](repeating: 0, count: 32)
            var length = socklen_t(128)
            let isSocket = address.withUnsafeMutableBytes { bytes in
                getsockname(Int32(number), bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), &length) == 0
            }
            return isSocket && address[0] & 0xFFFF == UInt32(AF_NETLINK) ? address[2] : nil
        }
    }

    /// libwebsockets 4.3 would close connections whose routes it believes to be gone.
    @Test func loopsDoNotWatchTheSystemsRoutes() async {
        await #expect(processExitsWith: .success) {
            let counter = Counter()
            guard let loop = try? Loop(settings: LoopSettings(), delegate: counter) else { exit(2) }
            counter.loop = loop
            guard ResourceTests.netlinkGroups.allSatisfy({ $0 == 0 }) else { exit(3) }
            loop.wake(at: loop.now + .milliseconds(200))
            loop.run()
            exit(ResourceTests.netlinkGroups.isEmpty ? 0 : 4)
        }
    }

    @Test func theSoftLimitIsRaisedToTheHardLimit() async {
        await #expect(processExitsWith: .success) {
            ResourceTests.setSoftLimit(64)
            let raised = DescriptorLimit.raise()
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            exit(limit.rlim_cur == DescriptorLimit.soft(below: limit.rlim_max) && raised == UInt64(limit.rlim_cur) && raised > 64 ? 0 : 1)
        }
    }

    /// Above 10,000,000 libwebsockets falls back to 2,560.
    @Test(arguments: [(64, 64), (1 << 20, 1 << 20), (1 << 20 + 1, 1 << 20), (10_000_001, 1 << 20), (.max, 1 << 20)] as [(rlim_t, rlim_t)])
    func theSoftLimitIsCapped(hard: rlim_t, soft: rlim_t) {
        #expect(DescriptorLimit.soft(below: hard) == soft)
    }

    /// The arenas that glibc lists in `malloc_info(3)`.
    private static var arenas: Int {
        var (text, size) = (UnsafeMutablePointer<CChar>?.none, 0)
        guard let stream = open_memstream(&text, &size) else { exit(9) }
        malloc_info(0, stream)
        fclose(stream)
        defer { free(text) }
        return String(cString: text!).split(separator: "\n").count { $0.hasPrefix("<heap nr=") }
    }

    @Test func threadsShareOneArenaOfTheHeapPerProcessor() async {
        await #expect(processExitsWith: .success) {
            let before = ResourceTests.arenas
            guard HeapMemory.limitArenas() else { exit(2) }
            let arrived = DispatchSemaphore(value: 0)
            let release = DispatchSemaphore(value: 0)
            for _ in 0..<16 * Processors.usable {
                Thread.detachNewThread {
                    let block = malloc(100)
                    arrived.signal()
                    release.wait()
                    free(block)
                }
            }
            for _ in 0..<16 * Processors.usable { arrived.wait() }
            exit(ResourceTests.arenas <= max(before, Processors.usable) ? 0 : 3)
        }
    }
}
