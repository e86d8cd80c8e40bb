import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.opensearch.common.settings.Settings;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.transport.Netty4Plugin;

/** Starts one OpenSearch node; each system property that begins with {@code node.setting.} is a setting of it. */
public final class ClusterNode extends Node {

    private static final String PREFIX = "node.setting.";

    private ClusterNode(Settings settings) {
        super(
            InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), Path.of(settings.get("path.home")), () -> "node"),
            List.of(Netty4Plugin.class),
            false
        );
    }

    public static void main(String[] arguments) throws Exception {
        Settings.Builder settings = Settings.builder();
        Properties properties = System.getProperties();
        for (String name : properties.stringPropertyNames()) {
            if (name.startsWith(PREFIX)) {
                settings.put(name.substring(PREFIX.length()), properties.getProperty(name));
            }
        }
        ClusterNode node = new ClusterNode(settings.build());
        CountDownLatch ended = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                node.close();
            } catch (Exception error) {
                error.printStackTrace();
            } finally {
                ended.countDown();
            }
        }));
        node.start();
        ended.await();
    }
}
